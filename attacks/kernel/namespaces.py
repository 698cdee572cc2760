# Namespaces of its own, in which it would have every capability, and those of others.
import os
from attack import *

FLAGS = dict(user=0x10000000, mount=0x20000, pid=0x20000000, network=0x40000000, ipc=0x8000000, uts=0x4000000, cgroup=0x2000000, time=0x80)
for name, flag in FLAGS.items():
    if os.fork() == 0:
        attempt("unshare " + name, call, "unshare", flag)
        attempt("unshare user and " + name, call, "unshare", flag | FLAGS["user"])
        os._exit(0)
    os.wait()


def child_of(flag):
    child = call("clone", flag | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


for name, flag in FLAGS.items():
    if name != "time":
        attempt("clone with " + name, child_of, flag)
        attempt("clone with user and " + name, child_of, flag | FLAGS["user"])
for name in os.listdir("/proc/self/ns"):
    for pid in "1", "2":
        try:
            fd = os.open("/proc/%s/ns/%s" % (pid, name), os.O_RDONLY)
        except OSError as e:
            stopped("namespace %s of %s" % (name, pid), reason(e))
            continue
        attempt("setns to %s of %s" % (name, pid), call, "setns", fd, 0)
