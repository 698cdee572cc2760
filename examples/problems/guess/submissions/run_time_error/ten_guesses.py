# Has room for ten replies.
low, high = 1, int(input().split()[0])
replies = [""] * 10
count = 0
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    replies[count] = input()
    if replies[count] == "right":
        break
    if replies[count] == "lower":
        high = middle - 1
    else:
        low = middle + 1
    count += 1
