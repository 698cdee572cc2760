# Too slow for all but the small tests; its stack is too deep for most.
# @EXPECTED_SCORE@: 20
def ways(n):
    return n == 0 if n <= 0 else ways(n - 1) + ways(n - 2) + ways(n - 3)


print(int(ways(int(input()))) % 1_000_000_007)
