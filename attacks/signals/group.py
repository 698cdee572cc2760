# Signals to groups and sessions that are not its own: those of process 1 and of process 0.
import os, signal
from attack import *

for group in 1, 2, 3, 4, 5:
    if group == os.getpgrp():
        continue
    attempt("SIGKILL to group %d" % group, os.killpg, group, signal.SIGKILL) if group != 1 else None
try:
    os.killpg(1, signal.SIGKILL)
except OSError as e:
    stopped("SIGKILL to group 1", reason(e))
attempt("setpgid of process 1", os.setpgid, 1, os.getpid())
attempt("join group 1", os.setpgid, 0, 1)
stopped("process 1 is there", open("/proc/1/comm").read().strip())
