// Too slow for all but the small tests.
// @EXPECTED_SCORE@: 20
#include <iostream>

long long ways(long long n) { return n <= 0 ? n == 0 : (ways(n - 1) + ways(n - 2) + ways(n - 3)) % 1'000'000'007; }

int main() {
    long long n;
    std::cin >> n;
    std::cout << ways(n) << "\n";
}
