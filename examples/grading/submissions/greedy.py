# Wrong: makes room for as many numbers as there could be.
room = bytearray(500_000_000)
n, *numbers = map(int, open(0).read().split())
print(sum(numbers[:n]))
