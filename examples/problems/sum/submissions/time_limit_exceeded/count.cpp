// Counts each amount on its fingers; volatile keeps the compiler from doing better.
#include <iostream>

int main() {
    int n;
    std::cin >> n;
    volatile long long total = 0;
    long long amount;
    while (n-- > 0 && std::cin >> amount) {
        for (; amount > 0; amount--) total = total + 1;
        for (; amount < 0; amount++) total = total - 1;
    }
    std::cout << total << "\n";
}
