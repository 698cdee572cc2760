// @EXPECTED_RESULTS@: COMPILER-ERROR
#include <iostream>

int main() { std::cout << "impossible" << std::endl }
