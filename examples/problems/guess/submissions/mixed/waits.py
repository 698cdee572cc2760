# Waits for another word before it guesses a large number, while the judge waits for a guess.
# @EXPECTED_RESULTS@: TIMELIMIT
low, high = 1, int(input().split()[0])
if high > 10**9:
    input()
reply = ""
while reply != "right":
    middle = (low + high) // 2
    print(middle, flush=True)
    reply = input()
    if reply == "lower":
        high = middle - 1
    else:
        low = middle + 1
