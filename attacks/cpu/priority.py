# Before everybody else: nice below that of the job, real time, deadlines, the first class of input and output.
import ctypes, os, resource, struct
from attack import *

attempt("nice -20", os.setpriority, os.PRIO_PROCESS, 0, -20)
attempt("nice 18", os.setpriority, os.PRIO_PROCESS, 0, 18)
attempt("SCHED_FIFO", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(99))
attempt("SCHED_RR", os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1))
deadline = struct.pack("IIQiIQQQ", 48, 6, 0, 0, 0, 10**7, 2 * 10**7, 2 * 10**7)
number = 314 if X86 else 274
if libc.syscall(ctypes.c_long(number), 0, deadline, 0) == 0:
    escaped("SCHED_DEADLINE")
else:
    stopped("SCHED_DEADLINE", errno.errorcode[ctypes.get_errno()])
attempt("real-time input and output", call, "ioprio_set", 1, 0, 1 << 13)
for name in "RLIMIT_RTPRIO", "RLIMIT_NICE", "RLIMIT_NOFILE", "RLIMIT_CORE":
    limit = getattr(resource, name, None)
    if limit is None:
        continue
    soft, hard = resource.getrlimit(limit)
    attempt("higher " + name, resource.setrlimit, limit, (hard + 10 if hard >= 0 else 10, hard + 10 if hard >= 0 else resource.RLIM_INFINITY))
attempt("autogroup of nice -20", write, "/proc/self/autogroup", "-20")
