import re
import sys

lines = sys.stdin.read().split("\n")
assert len(lines) == 3 and lines[2] == "", "want two lines"
assert re.fullmatch(r"0|[1-9][0-9]{0,3}", lines[0]), "the number of amounts"
words = lines[1].split(" ") if lines[1] else []
assert len(words) == int(lines[0]) <= 1000, "as many amounts as announced"
for word in words:
    assert re.fullmatch(r"0|-?[1-9][0-9]*", word) and abs(int(word)) <= 10**9, "an amount"
sys.exit(42)
