# The judge reads on past white space, for ever.
# @EXPECTED_RESULTS@: OUTPUT-LIMIT
while True:
    print(" " * 10_000)
