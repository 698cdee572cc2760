# Counts each amount on its fingers.
input()
total = 0
for amount in map(int, input().split()):
    step = 1 if amount > 0 else -1
    while amount:
        amount -= step
        total += step
print(total)
