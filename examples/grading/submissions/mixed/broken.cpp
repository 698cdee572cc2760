// @EXPECTED_RESULTS@: COMPILER-ERROR
#include <iostream>

int main() {
    long long n, sum = 0
    std::cin >> n;
    std::cout << sum << '\n';
}
