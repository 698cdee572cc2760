// A float has 24 bits.
#include <cmath>
#include <cstdio>

int main() {
    float ax, ay, bx, by, cx, cy;
    if (std::scanf("%f%f%f%f%f%f", &ax, &ay, &bx, &by, &cx, &cy) != 6) return 1;
    bx -= ax, by -= ay, cx -= ax, cy -= ay;
    float b = bx * bx + by * by, c = cx * cx + cy * cy;
    float twice = 2 * (bx * cy - by * cx);
    float x = (cy * b - by * c) / twice, y = (bx * c - cx * b) / twice;
    std::printf("%.12f %.12f %.12f\n", ax + x, ay + y, std::hypot(x, y));
}
