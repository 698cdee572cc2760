# Out of the cgroup, or more of everything in it.
import os
from attack import *

for top in "/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified":
    for name, text in (("cgroup.procs", str(os.getpid())), ("tasks", str(os.getpid())), ("cgroup.threads", "0"), ("cpu.cfs_quota_us", "-1"),
                       ("cpu.max", "max"), ("cpu.shares", "262144"), ("cpu.weight", "10000"), ("pids.max", "max"), ("memory.max", "max"),
                       ("memory.limit_in_bytes", "-1"), ("memory.memsw.limit_in_bytes", "-1"), ("release_agent", "/tmp/agent"),
                       ("notify_on_release", "1"), ("cgroup.subtree_control", "+cpu"), ("cgroup.kill", "1"), ("cgroup.freeze", "1")):
        attempt(top + "/" + name, write, top + "/" + name, text)
    attempt("folder in " + top, os.mkdir, top + "/mine")
    attempt("move out of " + top, write, top + "/../cgroup.procs", "0")
