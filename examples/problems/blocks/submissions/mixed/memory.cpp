// @EXPECTED_RESULTS@: MEMORY-LIMIT
#include <iostream>
#include <vector>

int main() {
    long long n;
    std::cin >> n;
    std::vector<long long> ways(1 << 27, n);
    std::cout << ways[n & 1023] << "\n";
}
