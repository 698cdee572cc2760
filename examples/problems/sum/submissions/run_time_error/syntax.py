# Python has no compile step: what does not parse is a run-time error.
print(sum(
