# Many processes, each of which has little.
import os, time
from attack import *

stopped("the kernel's limit has to end one of them")
children = []
for _ in range(50):
    child = os.fork()
    if child == 0:
        held = bytearray(b"x" * (10 << 20))
        time.sleep(8)
        os._exit(0)
    children.append(child)
killed = sum(os.WIFSIGNALED(os.waitpid(child, 0)[1]) for child in children)
(stopped if killed else escaped)("50 processes of 10 MiB", "%d were killed" % killed)
