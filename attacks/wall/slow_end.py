# An end that takes long: much memory in many small mappings, and many open files, all of which the kernel has to take back.
import mmap, os
from attack import *

stopped("the wall-clock limit has to end it")
held = []
try:
    for _ in range(10_000):
        m = mmap.mmap(-1, 8192, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        m[0] = 1
        held.append(m)
except OSError as e:
    stopped("mappings", reason(e))
for i in range(40):
    try:
        if os.fork() == 0:
            while True:
                pass
    except OSError:
        break
while True:
    pass
