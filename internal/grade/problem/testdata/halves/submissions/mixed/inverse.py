# @EXPECTED_RESULTS@: WRONG-ANSWER, RUN-ERROR
print(1 / int(input()))
