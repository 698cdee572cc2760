def f(n):
    f(n + 1)
