// @EXPECTED_RESULTS@: COMPILER-ERROR
#include <cstdio>

int main() { std::printf("%f 0 0\n", hypot(3, 4)) }
