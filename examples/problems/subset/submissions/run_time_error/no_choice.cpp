// Does not think of what is impossible.
#include <iostream>
#include <map>
#include <vector>

int main() {
    int n, load;
    std::cin >> n >> load;
    std::vector<int> weights(n + 1), chosen;
    std::map<int, int> last{{0, 0}};
    for (int stone = 1; stone <= n; stone++) {
        std::cin >> weights[stone];
        for (int total = load; total >= weights[stone]; total--)
            if (!last.count(total) && last.count(total - weights[stone])) last[total] = stone;
    }
    for (; load > 0; load -= weights[last.at(load)]) chosen.push_back(last.at(load));
    std::cout << chosen.size();
    for (int stone : chosen) std::cout << " " << stone;
    std::cout << "\n";
}
