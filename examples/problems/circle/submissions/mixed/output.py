# @EXPECTED_RESULTS@: OUTPUT-LIMIT
while True:
    print("trying another centre\n" * 1000)
