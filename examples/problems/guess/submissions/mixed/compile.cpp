// @EXPECTED_RESULTS@: COMPILER-ERROR
#include <iostream>

int main() { std::cout << middle << std::endl; }
