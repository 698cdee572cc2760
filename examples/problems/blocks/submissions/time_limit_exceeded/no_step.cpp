// Forgets to take a step; volatile keeps the compiler from doing better.
#include <iostream>

int main() {
    long long n, a = 0, b = 0, c = 1;
    std::cin >> n;
    for (volatile long long i = 0; i < n;) {
        long long next = (a + b + c) % 1'000'000'007;
        a = b, b = c, c = next;
    }
    std::cout << c << "\n";
}
