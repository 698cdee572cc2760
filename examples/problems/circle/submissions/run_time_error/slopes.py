# The bisector of a level line has no slope, and Python has no infinity for it.
(ax, ay), (bx, by), (cx, cy) = (map(float, input().split()) for _ in range(3))
bx, by, cx, cy = bx - ax, by - ay, cx - ax, cy - ay
first, second = -bx / by, -cx / cy
x = (cy / 2 - second * cx / 2 - by / 2 + first * bx / 2) / (first - second)
y = by / 2 + first * (x - bx / 2)
print(ax + x, ay + y, (x * x + y * y) ** 0.5)
