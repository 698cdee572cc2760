// The right output does not make up for an exit code other than 0.
#include <iostream>

int main() {
    int n;
    std::cin >> n;
    long long sum = 0, amount;
    while (n-- > 0 && std::cin >> amount) sum += amount;
    std::cout << sum << "\n";
    return 3;
}
