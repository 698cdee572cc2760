# @EXPECTED_RESULTS@: MEMORY-LIMIT
input()
candidates = b"x" * (1 << 30)
print(1, flush=True)
