// A line straight up has no slope: 0 * inf is nan.
#include <cmath>
#include <cstdio>

int main() {
    double ax, ay, bx, by, cx, cy;
    if (std::scanf("%lf%lf%lf%lf%lf%lf", &ax, &ay, &bx, &by, &cx, &cy) != 6) return 1;
    double first = (by - ay) / (bx - ax), second = (cy - by) / (cx - bx);
    double x = (first * second * (cy - ay) + first * (bx + cx) - second * (ax + bx)) / (2 * (first - second));
    double y = (ay + by) / 2 - (x - (ax + bx) / 2) / first;
    std::printf("%.12f %.12f %.12f\n", x, y, std::hypot(x - ax, y - ay));
}
