# Memory files, which no limit of a file system bounds.
import os
from attack import *

stopped("the kernel's limit has to end it")
held = [os.memfd_create("m%d" % i) for i in range(64)]
for fd in held:
    os.write(fd, b"x" * (8 << 20))
escaped("512 MiB in memory files")
