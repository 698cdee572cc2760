# @EXPECTED_RESULTS@: MEMORY-LIMIT
table = b"x" * (1 << 30)
input()
print(sum(map(int, input().split())))
