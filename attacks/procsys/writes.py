# What /proc and /sys let root change for the whole host.
import os
from attack import *

for path, text in (("/proc/sys/kernel/core_pattern", "|/tmp/x"), ("/proc/sysrq-trigger", "h"), ("/proc/sys/kernel/modprobe", "/tmp/x"), ("/proc/sys/kernel/hotplug", "/tmp/x"),
                   ("/proc/sys/kernel/hostname", "attacked"), ("/proc/sys/kernel/domainname", "attacked"), ("/proc/sys/kernel/panic", "1"), ("/proc/sys/kernel/randomize_va_space", "0"),
                   ("/proc/sys/kernel/ns_last_pid", "1"), ("/proc/sys/kernel/pid_max", "301"), ("/proc/sys/kernel/poweroff_cmd", "/tmp/x"), ("/proc/sys/kernel/sysrq", "1"),
                   ("/proc/sys/kernel/unprivileged_userns_clone", "1"), ("/proc/sys/vm/overcommit_memory", "1"), ("/proc/sys/vm/drop_caches", "3"), ("/proc/sys/vm/panic_on_oom", "1"),
                   ("/proc/sys/fs/file-max", "10"), ("/proc/sys/fs/suid_dumpable", "2"), ("/proc/sys/fs/binfmt_misc/register", ":a:M::x::/tmp/x:"), ("/proc/sys/net/ipv4/ip_forward", "1"),
                   ("/proc/sys/net/core/somaxconn", "1"), ("/proc/sys/fs/mqueue/queues_max", "10000"), ("/proc/sys/kernel/shmmax", "1"), ("/proc/sys/kernel/sem", "1 1 1 1"),
                   ("/proc/sys/user/max_user_namespaces", "1000"), ("/proc/sys/kernel/keys/maxkeys", "1"), ("/proc/irq/default_smp_affinity", "1"), ("/proc/bus/pci/00/00.0", "x"),
                   ("/proc/fs/nfsd/threads", "1"), ("/proc/acpi/wakeup", "x"), ("/proc/scsi/scsi", "x"), ("/proc/timer_stats", "1"), ("/proc/latency_stats", "0"), ("/proc/mtrr", "x"),
                   ("/proc/kcore", "x"), ("/proc/kmsg", "x"), ("/sys/kernel/uevent_helper", "/tmp/x"), ("/sys/kernel/mm/transparent_hugepage/enabled", "never"), ("/sys/power/state", "mem"),
                   ("/sys/kernel/mm/ksm/run", "1"), ("/sys/module/overlay/parameters/metacopy", "Y"), ("/sys/class/net/lo/mtu", "100"), ("/sys/kernel/profiling", "1"),
                   ("/sys/devices/system/cpu/cpu1/online", "0"), ("/sys/fs/cgroup/release_agent", "/tmp/x"), ("/sys/fs/cgroup/memory/release_agent", "/tmp/x"),
                   ("/sys/fs/cgroup/rdma/release_agent", "/tmp/x"), ("/sys/kernel/security/apparmor/profiles", "x"), ("/sys/kernel/debug/sched_features", "x"), ("/proc/self/attr/exec", "changeprofile unconfined")):
    attempt(path, write, path, text)
count = 0
for top in "/proc/sys", "/sys", "/proc/irq", "/proc/fs", "/proc/bus", "/proc/acpi":
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if os.path.islink(path):
                    continue
                fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                count += 1
                continue
            os.close(fd)
            # Kernels check the right to write some only in write.
            try:
                with open(path) as f:
                    same = f.read()
                write(path, same)
                escaped("write " + path)
            except (OSError, ValueError):
                count += 1
stopped("%d files of /proc and /sys cannot be written" % count)
