# @EXPECTED_RESULTS@: NO-OUTPUT
input()
sum(map(int, input().split()))
