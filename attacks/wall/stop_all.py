# Everything is stopped, also what is its own: process groups, children, and process 1 if that were possible.
import os, signal, time
from attack import *

for _ in range(10):
    if os.fork() == 0:
        while True:
            time.sleep(1)
stopped("the wall-clock limit has to end it")
try:
    os.kill(1, signal.SIGSTOP)
except OSError:
    pass
os.kill(-1, signal.SIGSTOP)
os.kill(0, signal.SIGSTOP)
time.sleep(600)
