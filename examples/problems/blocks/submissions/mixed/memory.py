# @EXPECTED_RESULTS@: MEMORY-LIMIT
ways = b"x" * (1 << 30)
print(ways[0])
