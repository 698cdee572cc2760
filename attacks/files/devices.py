# Devices: those that are there, and new ones.
import fcntl, os, stat
from attack import *

for kind, major, minor in (("b", 8, 0), ("b", 254, 0), ("b", 7, 0), ("b", 259, 0), ("c", 1, 1), ("c", 1, 11), ("c", 10, 229), ("c", 10, 232), ("c", 10, 200), ("c", 5, 1)):
    mode = 0o666 | (stat.S_IFBLK if kind == "b" else stat.S_IFCHR)
    for folder in "/tmp", "/workspace", "/dev/shm":
        attempt("%s %d:%d in %s" % (kind, major, minor, folder), os.mknod, "%s/device%d" % (folder, minor), mode, os.makedev(major, minor))
HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "mqueue", "fd", "stdin", "stdout", "stderr", "core", "console"}
for name in os.listdir("/dev"):
    if name not in HARMLESS:
        attempt("/dev/" + name, lambda: os.open("/dev/" + name, os.O_RDWR | os.O_NONBLOCK))
for name in "mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "loop-control", "loop0", "fuse", "kvm", "vhost-vsock", "vsock", "net/tun", "mapper/control", "dri/card0", "snapshot", "userfaultfd", "hpet", "vhci":
    attempt("open /dev/" + name, os.open, "/dev/" + name, os.O_RDWR | os.O_NONBLOCK)
fd = os.open("/dev/random", os.O_RDWR)
attempt("RNDADDTOENTCNT", fcntl.ioctl, fd, 0x40045201, b"\x10\0\0\0")
attempt("RNDCLEARPOOL", fcntl.ioctl, fd, 0x5206)
