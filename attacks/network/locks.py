# Files that all sandboxes have in common, and whose locks one could see and the other set: words between those who must not talk.
import fcntl, os
from attack import *

SHARED = ["/.sandloop", "/.sandloop/sandbox-init", "/", "/etc/passwd", "/etc", os.path.realpath(sys.executable), "/bin/sh", "/proc", "/proc/version", "/sys", "/sys/kernel",
          "/dev", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/full", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/proc/sys/kernel/hostname", "/sys/fs/cgroup"]
for path in SHARED:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError as e:
        stopped("open " + path, reason(e))
        continue
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stopped("lock of another on " + path, "is not seen")
    except OSError as e:
        (escaped if e.errno == errno.EAGAIN else stopped)("lock of another on " + path, reason(e))
