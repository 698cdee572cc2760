# Does not think of what is impossible.
n, load = map(int, input().split())
weights = list(map(int, input().split()))
last = {0: None}
for stone, weight in enumerate(weights):
    for total in sorted(last, reverse=True):
        last.setdefault(total + weight, stone)
chosen = []
while load > 0:
    chosen.append(last[load] + 1)
    load -= weights[last[load]]
print(len(chosen), *chosen)
