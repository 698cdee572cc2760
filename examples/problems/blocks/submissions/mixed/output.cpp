// @EXPECTED_RESULTS@: OUTPUT-LIMIT
#include <cstdio>

int main() {
    while (true) std::puts("1 way");
}
