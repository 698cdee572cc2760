# Lays a row that is one longer.
# @EXPECTED_SCORE@: 0
MOD = 1_000_000_007


def times(a, b):
    return [[sum(x * y for x, y in zip(row, column)) % MOD for column in zip(*b)] for row in a]


n = int(input()) + 1
power, step = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 1], [1, 0, 0], [0, 1, 0]]
while n:
    if n & 1:
        power = times(power, step)
    step = times(step, step)
    n >>= 1
print(power[0][0])
