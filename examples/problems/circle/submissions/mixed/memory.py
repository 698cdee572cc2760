# @EXPECTED_RESULTS@: MEMORY-LIMIT
grid = b"x" * (1 << 30)
print(grid[0], 0, 0)
