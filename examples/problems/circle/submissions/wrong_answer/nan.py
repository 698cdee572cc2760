# NaN compares with nothing, and is no number.
print("nan nan nan")
