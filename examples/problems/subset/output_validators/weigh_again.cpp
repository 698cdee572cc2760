// A second opinion, written apart from the first: a package's validators must all accept.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

const int right = 42, wrong = 43, broken = 1;
std::string feedback;

[[noreturn]] void finish(int code, const std::string &message) {
    std::ofstream(feedback + "/judgemessage.txt") << message << std::endl;
    std::exit(code);
}

std::string lower(std::string word) {
    for (char &c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word;
}

// small reads a number of at most four digits, and returns -1 for whatever else it finds.
int small(const std::string &word) {
    bool digits = std::all_of(word.begin(), word.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
    return digits && !word.empty() && word.size() <= 4 ? std::stoi(word) : -1;
}

int main(int argc, char **argv) {
    if (argc < 4) return broken;
    feedback = argv[3];
    bool any_case = argc == 5 && std::string(argv[4]) == "any_case";
    if (argc > 4 && !any_case) finish(broken, "unknown flags");

    std::ifstream input(argv[1]), answer(argv[2]);
    int n, load;
    input >> n >> load;
    std::vector<int> weights(n);
    for (int &weight : weights) input >> weight;
    std::string judge;
    if (!input || !(answer >> judge)) finish(broken, "the data of the judges cannot be read");

    std::string word, more;
    if (!(std::cin >> word)) finish(wrong, "no output");
    if ((any_case ? lower(word) : word) == "impossible") {
        if (std::cin >> more) finish(wrong, "more than one word");
        finish(judge == "impossible" ? right : wrong, "impossible");
    }
    int count = small(word), total = 0;
    if (count < 1) finish(wrong, "no count");
    std::set<int> chosen;
    for (int i = 0; i < count; i++) {
        int stone = std::cin >> word ? small(word) : -1;
        if (stone < 1 || stone > n || !chosen.insert(stone).second) finish(wrong, "no stone, or the same twice");
        total += weights[stone - 1];
    }
    if (std::cin >> more) finish(wrong, "more stones than announced");
    if (total != load) finish(wrong, "another weight");
    finish(judge == "impossible" ? broken : right, "a right choice");
}
