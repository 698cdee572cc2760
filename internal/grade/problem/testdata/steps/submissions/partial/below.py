n = int(input())
print(n if n < 30 else 0)
