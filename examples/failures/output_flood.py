"""Writes 100 MB: the head and the tail are kept and the rest is counted."""
import sys

line = "x" * 99 + "\n"
for _ in range(100):
    sys.stdout.write(line * 10_000)
