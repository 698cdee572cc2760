# No standard streams at all, and the work goes on.
import os, sys
from attack import *

stopped("what follows is silent")
for fd in 0, 1, 2:
    os.close(fd)
if os.open("/dev/null", os.O_RDWR) != 0:
    os._exit(9)
os._exit(7)
