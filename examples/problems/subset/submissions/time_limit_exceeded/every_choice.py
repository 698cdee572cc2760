# Tries all 2^n choices.
n, load = map(int, input().split())
weights = list(map(int, input().split()))
for choice in range(1, 1 << n):
    chosen = [stone for stone in range(n) if choice >> stone & 1]
    if sum(weights[stone] for stone in chosen) == load:
        print(len(chosen), *(stone + 1 for stone in chosen))
        break
else:
    print("impossible")
