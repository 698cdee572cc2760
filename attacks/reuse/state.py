# The state that children inherit: masks, limits, priorities, ignored signals, terminals and what process 1 has.
import os, resource, signal
from attack import *

os.umask(0)
os.nice(0)
for name in dir(resource):
    if name.startswith("RLIMIT_"):
        try:
            resource.setrlimit(getattr(resource, name), (0, 0) if name in ("RLIMIT_CORE", "RLIMIT_MSGQUEUE") else resource.getrlimit(getattr(resource, name)))
        except (OSError, ValueError):
            pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for flag in 0x0040000, 0x0000008, 0x0400000:
    try:
        call("personality", flag)
    except OSError as e:
        stopped("personality %x" % flag, reason(e))
libc.prctl(29, 10**12)  # timer slack
libc.prctl(36, 1)  # a reaper of its own children
os.chdir("/tmp")
stopped("its own state is changed", "the next has to start with that of process 1")
