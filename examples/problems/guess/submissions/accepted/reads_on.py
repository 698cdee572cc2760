# Closes its output when it has won and reads until the end of input, which comes when the judge has ended.
import os
import sys

low, high = 1, int(sys.stdin.readline().split()[0])
middle = (low + high) // 2
print(middle, flush=True)
for reply in sys.stdin:
    if reply == "right\n":
        os.close(1)
        continue
    if reply == "lower\n":
        high = middle - 1
    else:
        low = middle + 1
    middle = (low + high) // 2
    print(middle, flush=True)
