// @EXPECTED_RESULTS@: MEMORY-LIMIT
#include <iostream>
#include <vector>

int main() {
    int n, load;
    std::cin >> n >> load;
    std::vector<int> choices(1 << 28, n);
    std::cout << choices[load] << "\n";
}
