// @EXPECTED_SCORE@: 0
#include <iostream>

int main() { std::cout << 0 << "\n"; }
