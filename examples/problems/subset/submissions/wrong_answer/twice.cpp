// Takes the same stone as often as it likes.
#include <iostream>
#include <vector>

int main() {
    int n, load;
    std::cin >> n >> load;
    std::vector<int> weights(n + 1), last(load + 1, -1);
    last[0] = 0;
    for (int stone = 1; stone <= n; stone++) {
        std::cin >> weights[stone];
        for (int total = weights[stone]; total <= load; total++)
            if (last[total] < 0 && last[total - weights[stone]] >= 0) last[total] = stone;
    }
    if (last[load] < 0) {
        std::cout << "impossible\n";
        return 0;
    }
    std::vector<int> chosen;
    for (; load > 0; load -= weights[last[load]]) chosen.push_back(last[load]);
    std::cout << chosen.size();
    for (int stone : chosen) std::cout << " " << stone;
    std::cout << "\n";
}
