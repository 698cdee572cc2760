// 32 bits are too few.
#include <cstdint>
#include <iostream>

int main() {
    int n;
    std::cin >> n;
    std::uint32_t sum = 0;
    std::int32_t amount;
    while (n-- > 0 && std::cin >> amount) sum += static_cast<std::uint32_t>(amount);
    std::cout << static_cast<std::int32_t>(sum) << "\n";
}
