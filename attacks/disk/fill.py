# All the space there is in what can be written.
import os, shutil
from attack import *

for folder, most in ("/tmp", 64), ("/workspace", 128), ("/dev/shm", 16):
    total = 0
    try:
        with open(folder + "/filler", "wb", buffering=0) as f:
            while total <= most << 20:
                total += f.write(b"x" * (1 << 20))
            escaped(folder, "%d MiB" % (total >> 20))
    except OSError as e:
        stopped(folder, reason(e))
    os.remove(folder + "/filler")
