// @EXPECTED_RESULTS@: OUTPUT-LIMIT
#include <cstdio>

int main() {
    while (true) std::fputs("1 ", stdout);
}
