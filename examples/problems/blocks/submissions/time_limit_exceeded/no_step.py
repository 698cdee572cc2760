# Forgets to take a step.
a, b, c, i = 0, 0, 1, 0
n = int(input())
while i < n:
    a, b, c = b, c, (a + b + c) % 1_000_000_007
print(c)
