import re
import sys

lines = sys.stdin.read().split("\n")
assert len(lines) == 3 and lines[2] == "", "want two lines"
for line in lines[:2]:
    assert re.fullmatch(r"[1-9][0-9]*( [1-9][0-9]*)*", line), "numbers"
n, t = map(int, lines[0].split(" "))
weights = [int(word) for word in lines[1].split(" ")]
assert n == len(weights) <= 40 and t <= 40000 and max(weights) <= 1000, "within the bounds"
sys.exit(42)
