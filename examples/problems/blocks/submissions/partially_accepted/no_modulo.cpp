// 64 bits are not enough from a length of 73 on, and the modulo is missed before.
// @EXPECTED_SCORE@: 20
#include <iostream>

int main() {
    long long n;
    std::cin >> n;
    unsigned long long a = 0, b = 0, c = 1;
    for (n = std::min(n, 1000LL); n > 0; n--) {
        unsigned long long next = a + b + c;
        a = b, b = c, c = next;
    }
    std::cout << c << "\n";
}
