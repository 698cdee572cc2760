# Every signal ignored or handled, in every process, and in sessions of their own.
import os, signal, time
from attack import *

for number in range(1, 65):
    try:
        signal.signal(number, lambda *_: None)
    except (OSError, ValueError):
        pass
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
stopped("the wall-clock limit has to end it")
while True:
    time.sleep(1)
