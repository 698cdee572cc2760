# Finds the middle by walking there.
low, high = 1, int(input().split()[0])
reply = ""
while reply != "right":
    middle, end = low, high
    while middle < end:
        middle, end = middle + 1, end - 1
    print(middle, flush=True)
    reply = input()
    if reply == "lower":
        high = middle - 1
    else:
        low = middle + 1
