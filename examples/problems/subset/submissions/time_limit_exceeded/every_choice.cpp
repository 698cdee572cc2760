// Tries all 2^n choices.
#include <bit>
#include <cstdint>
#include <iostream>
#include <vector>

int main() {
    int n, load;
    std::cin >> n >> load;
    std::vector<int> weights(n);
    for (int &weight : weights) std::cin >> weight;
    for (std::uint64_t choice = 1; choice < std::uint64_t{1} << n; choice++) {
        int total = 0;
        for (int stone = 0; stone < n; stone++) total += choice >> stone & 1 ? weights[stone] : 0;
        if (total != load) continue;
        std::cout << std::popcount(choice);
        for (int stone = 0; stone < n; stone++)
            if (choice >> stone & 1) std::cout << " " << stone + 1;
        std::cout << "\n";
        return 0;
    }
    std::cout << "impossible\n";
}
