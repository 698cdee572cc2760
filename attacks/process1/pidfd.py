# The descriptors of process 1, taken through a descriptor of the process itself, and its memory advised away.
import ctypes, os
from attack import *

try:
    pidfd = call("pidfd_open", 1, 0)
    stopped("a descriptor of process 1 is nothing by itself")
except OSError as e:
    stopped("pidfd_open", reason(e))
    pidfd = -1
for fd in range(8):
    attempt("pidfd_getfd %d" % fd, call, "pidfd_getfd", pidfd, fd, 0)
attempt("process_madvise", call, "process_madvise", pidfd, ctypes.byref((ctypes.c_void_p * 2)(0x400000, 4096)), 1, 21, 0)
for name in "mnt", "pid", "net", "ipc", "uts", "user", "cgroup", "time":
    flag = dict(mnt=0x20000, pid=0x20000000, net=0x40000000, ipc=0x8000000, uts=0x4000000, user=0x10000000, cgroup=0x2000000, time=0x80)[name]
    attempt("setns to the %s namespace of process 1" % name, call, "setns", pidfd, flag)
for kind in range(7):
    attempt("kcmp %d" % kind, call, "kcmp", os.getpid(), 1, kind, 1, 1)
attempt("migrate_pages", call, "migrate_pages", 1, 64, ctypes.byref(ctypes.c_ulong(1)), ctypes.byref(ctypes.c_ulong(1)))
