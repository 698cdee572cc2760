// Too few digits: a stream prints six of them.
#include <cmath>
#include <iostream>

int main() {
    double ax, ay, bx, by, cx, cy;
    std::cin >> ax >> ay >> bx >> by >> cx >> cy;
    bx -= ax, by -= ay, cx -= ax, cy -= ay;
    double b = bx * bx + by * by, c = cx * cx + cy * cy;
    double twice = 2 * (bx * cy - by * cx);
    double x = (cy * b - by * c) / twice, y = (bx * c - cx * b) / twice;
    std::cout << ax + x << " " << ay + y << " " << std::hypot(x, y) << "\n";
}
