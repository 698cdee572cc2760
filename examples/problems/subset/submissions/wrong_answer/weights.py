# Prints the weights instead of the numbers.
n, load = map(int, input().split())
weights = list(map(int, input().split()))
last = {0: None}
for stone, weight in enumerate(weights):
    for total in sorted(last, reverse=True):
        last.setdefault(total + weight, stone)
chosen = []
while load in last and load > 0:
    chosen.append(weights[last[load]])
    load -= weights[last[load]]
print(f"{len(chosen)} {' '.join(map(str, chosen))}" if load == 0 else "impossible")
