low, high = 1, int(input().split()[0])
reply = ""
while reply != "right":
    middle = (low + high) // 2
    print(middle, flush=True)
    reply = input()
    if reply == "lower":
        high = middle - 1
    else:
        low = middle + 1
