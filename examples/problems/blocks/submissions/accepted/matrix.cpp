// @EXPECTED_SCORE@: 100
#include <array>
#include <iostream>

using Matrix = std::array<std::array<unsigned long long, 3>, 3>;

Matrix times(const Matrix &a, const Matrix &b) {
    Matrix c{};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) c[i][j] = (c[i][j] + a[i][k] * b[k][j]) % 1'000'000'007;
    return c;
}

int main() {
    long long n;
    std::cin >> n;
    Matrix power{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, step{{{1, 1, 1}, {1, 0, 0}, {0, 1, 0}}};
    for (; n > 0; n /= 2, step = times(step, step))
        if (n % 2 == 1) power = times(power, step);
    std::cout << power[0][0] << "\n";
}
