// Takes three posts that stand almost in a line for a mistake.
#include <cmath>
#include <cstdio>
#include <stdexcept>

int main() {
    double ax, ay, bx, by, cx, cy;
    if (std::scanf("%lf%lf%lf%lf%lf%lf", &ax, &ay, &bx, &by, &cx, &cy) != 6) return 1;
    bx -= ax, by -= ay, cx -= ax, cy -= ay;
    double b = bx * bx + by * by, c = cx * cx + cy * cy;
    double twice = 2 * (bx * cy - by * cx);
    if (std::abs(twice) < 1e-3 * std::sqrt(b * c)) throw std::domain_error("a straight line");
    double x = (cy * b - by * c) / twice, y = (bx * c - cx * b) / twice;
    std::printf("%.12f %.12f %.12f\n", ax + x, ay + y, std::hypot(x, y));
}
