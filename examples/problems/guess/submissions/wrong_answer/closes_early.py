# Closes its output and, when the number is large, stays.
import os
import time

most = int(input().split()[0])
os.close(1)
if most > 10**9:
    time.sleep(600)
