// @EXPECTED_RESULTS@: MEMORY-LIMIT
#include <iostream>
#include <vector>

int main() {
    long long most;
    std::cin >> most;
    std::vector<long long> candidates(1 << 27, most);
    std::cout << candidates[most & 1023] << std::endl;
}
