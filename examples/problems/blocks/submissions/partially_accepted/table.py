# Has room for a length of 1000: one of the medium tests is longer, and the group gives nothing.
# @EXPECTED_SCORE@: 20
ways = [1, 1, 2] + [0] * 998
for i in range(3, 1001):
    ways[i] = sum(ways[i - 3 : i]) % 1_000_000_007
print(ways[int(input())])
