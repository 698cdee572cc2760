import re
import sys

line = sys.stdin.read()
assert re.fullmatch(r"[1-9][0-9]*\n", line) and int(line) <= 10**18, "want one length"
sys.exit(42)
