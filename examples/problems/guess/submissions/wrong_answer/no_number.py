# No whole number, and longer than any guess.
print("7" * 100_000, flush=True)
input()
