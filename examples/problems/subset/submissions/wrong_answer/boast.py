# A validator that makes room for what is announced runs out of memory.
print(999_999_999)
print(1)
