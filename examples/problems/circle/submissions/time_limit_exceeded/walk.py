# Walks in small steps along the line between two posts' middle until the third is as far away as they are.
from math import hypot

(ax, ay), (bx, by), (cx, cy) = (map(float, input().split()) for _ in range(3))
mx, my, side = (ax + bx) / 2, (ay + by) / 2, hypot(bx - ax, by - ay)
dx, dy = (ay - by) / side, (bx - ax) / side


def nearer(t):
    x, y = mx + t * dx, my + t * dy
    return hypot(x - ax, y - ay) < hypot(x - cx, y - cy)


low, high = 0.0, 0.01
while nearer(low) == nearer(high) and nearer(-low) == nearer(-high):
    low, high = high, high + 0.01
if nearer(low) == nearer(high):
    low, high = -low, -high
at_low = nearer(low)
for _ in range(100):
    middle = (low + high) / 2
    if nearer(middle) == at_low:
        low = middle
    else:
        high = middle
x, y = mx + low * dx, my + low * dy
print(x, y, hypot(x - ax, y - ay))
