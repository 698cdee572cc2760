// Too slow for the large tests, and wrong on the others: the worst verdict counts.
// @EXPECTED_SCORE@: 0
#include <iostream>

int main() {
    long long n, a = 0, b = 0, c = 1;
    for (std::cin >> n; n >= 0; n--) {
        long long next = (a + b + c) % 1'000'000'007;
        a = b, b = c, c = next;
    }
    std::cout << c << "\n";
}
