# @EXPECTED_RESULTS@: OUTPUT-LIMIT
import sys

while True:
    sys.stdout.write("0\n" * 10_000)
