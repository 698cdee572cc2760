import re
import sys
from fractions import Fraction

lines = sys.stdin.read().split("\n")
assert len(lines) == 4 and lines[3] == "", "want three lines"
posts = []
for line in lines[:3]:
    assert re.fullmatch(r"-?[0-9]{1,4}(\.[0-9]{1,3})? -?[0-9]{1,4}(\.[0-9]{1,3})?", line), "two numbers"
    posts.append([Fraction(word) for word in line.split()])
assert all(abs(value) <= 1000 for post in posts for value in post), "near enough"
(ax, ay), (bx, by), (cx, cy) = posts
assert abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2 >= Fraction("1e-7"), "no straight line"
sys.exit(42)
