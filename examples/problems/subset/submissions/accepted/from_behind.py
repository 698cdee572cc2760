# Another right choice wherever there are several, and the word in capitals.
n, load = map(int, input().split())
weights = list(map(int, input().split()))
last = {0: None}
for stone in reversed(range(n)):
    for total in sorted(last, reverse=True):
        last.setdefault(total + weights[stone], stone)
if load not in last:
    print("IMPOSSIBLE")
else:
    chosen = []
    while load > 0:
        chosen.append(last[load] + 1)
        load -= weights[last[load]]
    print(len(chosen))
    print(*sorted(chosen), sep="\n")
