# @EXPECTED_RESULTS@: OUTPUT-LIMIT
while True:
    print("1 way\n" * 1000)
