// @EXPECTED_RESULTS@: MEMORY-LIMIT
#include <cstdio>
#include <vector>

int main() {
    double x, y;
    if (std::scanf("%lf%lf", &x, &y) != 2) return 1;
    std::vector<float> grid(1 << 28, static_cast<float>(x));
    std::printf("%f 0 0\n", grid[static_cast<unsigned>(y) & 1023]);
}
