# Heaviest first, and never thinks again.
n, load = map(int, input().split())
weights = list(map(int, input().split()))
chosen = []
for weight, stone in sorted(zip(weights, range(1, n + 1)), reverse=True):
    if weight <= load:
        chosen.append(stone)
        load -= weight
print(f"{len(chosen)} {' '.join(map(str, chosen))}" if load == 0 else "impossible")
