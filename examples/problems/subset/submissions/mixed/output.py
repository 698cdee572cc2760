# @EXPECTED_RESULTS@: OUTPUT-LIMIT
while True:
    print("1 " * 10_000)
