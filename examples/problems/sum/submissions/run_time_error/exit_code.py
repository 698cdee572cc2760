# The right output does not make up for an exit code other than 0.
import sys

input()
print(sum(map(int, input().split())))
sys.exit(3)
