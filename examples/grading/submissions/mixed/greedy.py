# Wrong: makes room for as many numbers as there could be.
# @EXPECTED_RESULTS@: MEMORY-LIMIT
room = bytearray(500_000_000)
n, *numbers = map(int, open(0).read().split())
print(sum(numbers[:n]))
