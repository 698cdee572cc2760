import re
import sys

line = sys.stdin.read()
assert re.fullmatch(r"[1-9][0-9]* [1-9][0-9]* [1-9][0-9]*\n", line), "want n, q and the number"
n, q, number = map(int, line.split())
assert number <= n <= 10**12 and q <= 40 and n < 2**q, "within the bounds, and enough for halving"
sys.exit(42)
