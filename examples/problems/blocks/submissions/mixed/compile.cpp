// @EXPECTED_RESULTS@: COMPILER-ERROR
#include <iostream>

int main() {
    long long n;
    std::cin >> n;
    std::cout << ways(n) << "\n";
}
