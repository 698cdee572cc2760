# A kill of every process that can be reached, from a process that outlives it.
import os, signal
from attack import *

for number in range(1, 65):
    if number in (signal.SIGKILL, signal.SIGSTOP):
        continue
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for number in list(range(1, 65)) + [signal.SIGKILL, signal.SIGSTOP]:
    try:
        os.kill(-1, number)  # spares the caller
    except OSError:
        pass
stopped("process 1 is there", open("/proc/1/comm").read().strip())
