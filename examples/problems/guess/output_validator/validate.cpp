// Thinks of a number and answers guesses: validate input answer feedback_dir
//
// Standard input is what the submission prints, and standard output what it reads.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

std::string feedback;

[[noreturn]] void finish(int code, const std::string &message) {
    std::ofstream(feedback + "/judgemessage.txt") << message << std::endl;
    std::exit(code);
}

[[noreturn]] void accept(const std::string &message) { finish(42, message); }

[[noreturn]] void reject(const std::string &message) {
    std::ofstream(feedback + "/teammessage.txt") << message << std::endl;
    finish(43, message);
}

void say(const std::string &line) { std::cout << line << std::endl; }

// hear reads a word. Of a longer one than any guess it returns the beginning.
bool hear(std::string &word) { return static_cast<bool>(std::cin >> std::setw(20) >> word); }

long long guess_of(const std::string &word, long long most) {
    if (word.size() > 13 || word.find_first_not_of("0123456789") != std::string::npos)
        reject("a guess that is no whole number");
    long long guess = std::stoll(word);
    if (guess < 1 || guess > most) reject("the guess " + word + " is not from 1 to " + std::to_string(most));
    return guess;
}

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    feedback = argv[3];
    // Whoever has gone does not end the judge.
    std::signal(SIGPIPE, SIG_IGN);
    long long most, number;
    int allowed;
    std::ifstream input(argv[1]);
    if (!(input >> most >> allowed >> number)) finish(1, "the input cannot be read");

    say(std::to_string(most) + " " + std::to_string(allowed));
    std::string word;
    for (int guesses = 0;; guesses++) {
        if (!hear(word)) reject("no more output after " + std::to_string(guesses) + " guesses");
        if (guesses == allowed) reject("more than " + std::to_string(allowed) + " guesses");
        long long guess = guess_of(word, most);
        if (guess == number) {
            say("right");
            if (hear(word)) reject("goes on after the right guess");
            accept("found after " + std::to_string(guesses + 1) + " guesses");
        }
        say(number < guess ? "lower" : "higher");
    }
}
