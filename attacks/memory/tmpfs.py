# Files in memory: more than the limit in all the file systems that can be written together.
import os
from attack import *

total = 0
for folder in "/tmp", "/workspace", "/dev/shm", "/dev/mqueue", "/run", "/var/tmp", "/run/lock":
    try:
        with open(folder + "/filler", "wb", buffering=0) as f:
            while True:
                total += f.write(b"x" * (1 << 20))
    except OSError as e:
        stopped(folder, reason(e))
if total > 300 << 20:
    escaped("files in memory", "%d MiB" % (total >> 20))
