# Too slow for the large tests.
# @EXPECTED_SCORE@: 50
a, b, c = 0, 0, 1
n = int(input())
while n > 0:
    a, b, c = b, c, (a + b + c) % 1_000_000_007
    n -= 1
print(c)
