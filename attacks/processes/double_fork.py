# Daemons: each child leaves its session and its parent, so that process 1 becomes its parent and no group holds it.
import os, time
from attack import *

made = 0
while made < 200:
    try:
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(600)
                os._exit(0)
            except OSError:
                os._exit(1)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            made += 1
            continue
        stopped("second fork", "after %d daemons" % made)
        break
    except OSError as e:
        stopped("fork", reason(e) + " after %d daemons" % made)
        break
else:
    escaped("200 daemons")
