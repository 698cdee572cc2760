# A number of 500 000 digits.
print(1, "9" * 500_000)
