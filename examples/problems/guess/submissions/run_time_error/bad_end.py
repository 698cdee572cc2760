# Finds a large number and then ends with another exit code than 0.
import sys

low, most = 1, int(input().split()[0])
high = most
reply = ""
while reply != "right":
    middle = (low + high) // 2
    print(middle, flush=True)
    reply = input()
    if reply == "lower":
        high = middle - 1
    else:
        low = middle + 1
sys.exit(most > 100)
