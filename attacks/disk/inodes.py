# As many empty files as there can be. Each takes memory of the kernel.
import os
from attack import *

stopped("the limit of memory or of time has to end it")
made = 0
try:
    while made < 3_000_000:
        os.close(os.open("/tmp/%d" % made, os.O_CREAT | os.O_WRONLY))
        made += 1
    escaped("3,000,000 files")
except OSError as e:
    stopped("files", reason(e) + " after %d" % made)
