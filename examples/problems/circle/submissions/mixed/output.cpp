// @EXPECTED_RESULTS@: OUTPUT-LIMIT
#include <cstdio>

int main() {
    for (double x = -1000;; x += 1e-9) std::printf("trying %f\n", x);
}
