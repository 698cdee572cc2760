// There may be no first amount.
#include <iostream>
#include <vector>

int main() {
    int n;
    std::cin >> n;
    std::vector<long long> amounts(n);
    for (long long &amount : amounts) std::cin >> amount;
    long long sum = amounts.at(0);
    for (int i = 1; i < n; i++) sum += amounts[i];
    std::cout << sum << "\n";
}
