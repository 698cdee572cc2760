// Walks in small steps along the line between two posts' middle until the third is as far away as they are.
#include <cmath>
#include <cstdio>
#include <utility>

double ax, ay, bx, by, cx, cy, mx, my, dx, dy;

bool nearer(double t) {
    double x = mx + t * dx, y = my + t * dy;
    return std::hypot(x - ax, y - ay) < std::hypot(x - cx, y - cy);
}

int main() {
    if (std::scanf("%lf%lf%lf%lf%lf%lf", &ax, &ay, &bx, &by, &cx, &cy) != 6) return 1;
    double side = std::hypot(bx - ax, by - ay);
    mx = (ax + bx) / 2, my = (ay + by) / 2, dx = (ay - by) / side, dy = (bx - ax) / side;
    double low = 0, high = 0.01;
    while (nearer(low) == nearer(high) && nearer(-low) == nearer(-high)) low = std::exchange(high, high + 0.01);
    if (nearer(low) == nearer(high)) low = -low, high = -high;
    bool at_low = nearer(low);
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        (nearer(middle) == at_low ? low : high) = middle;
    }
    double x = mx + low * dx, y = my + low * dy;
    std::printf("%.12f %.12f %.12f\n", x, y, std::hypot(x - ax, y - ay));
}
