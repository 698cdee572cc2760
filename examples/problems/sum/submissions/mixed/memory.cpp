// @EXPECTED_RESULTS@: MEMORY-LIMIT
#include <iostream>
#include <vector>

int main() {
    int n;
    std::cin >> n;
    std::vector<char> table(1 << 30, 1);
    std::cout << n + table[n] << "\n";
}
