# To slow process 1 down or to take away what it needs, so that limits are enforced late.
import os, resource
from attack import *

threads = sorted(map(int, os.listdir("/proc/1/task")))
for tid in threads:
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            attempt("prlimit %s of %d" % (name, tid), resource.prlimit, tid, getattr(resource, name), (3, 3))
    attempt("nice of %d" % tid, os.setpriority, os.PRIO_PROCESS, tid, 19)
    attempt("SCHED_IDLE for %d" % tid, os.sched_setscheduler, tid, os.SCHED_IDLE, os.sched_param(0))
    attempt("parameters of %d" % tid, os.sched_setparam, tid, os.sched_param(0))
    attempt("affinity of %d" % tid, os.sched_setaffinity, tid, {0})
    attempt("idle input and output for %d" % tid, call, "ioprio_set", 1, tid, 3 << 13)
attempt("nice of its group", os.setpriority, os.PRIO_PGRP, 1, 19)
attempt("nice of the user", os.setpriority, os.PRIO_USER, os.getuid(), 19)
attempt("nice of the caller's user", os.setpriority, os.PRIO_USER, 0, 19)
attempt("input and output of the user", call, "ioprio_set", 3, os.getuid(), 3 << 13)
