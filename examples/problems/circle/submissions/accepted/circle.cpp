#include <cmath>
#include <cstdio>

int main() {
    double ax, ay, bx, by, cx, cy;
    if (std::scanf("%lf%lf%lf%lf%lf%lf", &ax, &ay, &bx, &by, &cx, &cy) != 6) return 1;
    bx -= ax, by -= ay, cx -= ax, cy -= ay;
    double b = bx * bx + by * by, c = cx * cx + cy * cy;
    double twice = 2 * (bx * cy - by * cx);
    double x = (cy * b - by * c) / twice, y = (bx * c - cx * b) / twice;
    std::printf("%.12f %.12f %.12f\n", ax + x, ay + y, std::hypot(x, y));
}
