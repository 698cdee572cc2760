import sys

with open(sys.argv[2]) as answer:
    sys.exit(42 if sys.stdin.read().split() == answer.read().split() else 43)
