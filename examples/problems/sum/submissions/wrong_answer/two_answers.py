# One token too many.
input()
total = sum(map(int, input().split()))
print(total, total)
