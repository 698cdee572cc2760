# @EXPECTED_RESULTS@: MEMORY-LIMIT
n, load = map(int, input().split())
choices = b"x" * (1 << 30)
print("impossible")
