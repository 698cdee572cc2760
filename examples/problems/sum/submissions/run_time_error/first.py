# There may be no first amount.
input()
first, *rest = map(int, input().split())
print(first + sum(rest))
