# Too slow for the large tests, and wrong on the others: the worst verdict counts.
# @EXPECTED_SCORE@: 0
a, b, c = 0, 0, 1
n = int(input())
while n >= 0:
    a, b, c = b, c, (a + b + c) % 1_000_000_007
    n -= 1
print(c)
