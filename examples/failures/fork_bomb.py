"""Starts processes that start processes, until the kernel refuses one."""
import os
import time

try:
    while True:
        os.fork()
except OSError:
    time.sleep(60)
