# 5.0e-01 and +0.5 are the same number.
(ax, ay), (bx, by), (cx, cy) = (map(float, input().split()) for _ in range(3))
bx, by, cx, cy = bx - ax, by - ay, cx - ax, cy - ay
b, c = bx * bx + by * by, cx * cx + cy * cy
twice = 2 * (bx * cy - by * cx)
x, y = (cy * b - by * c) / twice, (bx * c - cx * b) / twice
print(f"{ax + x:+.12e} {ay + y:+.12E} {(x * x + y * y) ** 0.5:.12e}")
