# The table ends before the length.
n = int(input())
ways = [1, 1, 2]
for i in range(3, min(n, 1000)):
    ways.append(sum(ways[-3:]) % 1_000_000_007)
print([ways[i] for i in range(min(n, 1000))][n])
