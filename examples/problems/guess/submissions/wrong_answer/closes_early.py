# Closes its output and stays: the judge must not wait for it.
import os
import time

input()
os.close(1)
time.sleep(600)
