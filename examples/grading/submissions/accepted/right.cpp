#include <iostream>

int main() {
    long long n, number, sum = 0;
    for (std::cin >> n; n-- > 0 && std::cin >> number;) sum += number;
    std::cout << sum << '\n';
}
