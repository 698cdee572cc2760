# Another view of the file system: old and new calls for mounts, roots and their ends.
import os
from attack import *

os.mkdir("/tmp/m")
for what, source, kind, flags in (("tmpfs", b"none", b"tmpfs", 0), ("proc", b"proc", b"proc", 0), ("sysfs", b"sysfs", b"sysfs", 0), ("cgroup", b"cgroup", b"cgroup", 0),
                                  ("cgroup2", b"none", b"cgroup2", 0), ("bind", b"/etc", None, 4096), ("overlay", b"overlay", b"overlay", 0), ("devtmpfs", b"dev", b"devtmpfs", 0),
                                  ("remount", b"none", None, 32), ("shared", b"none", None, 1 << 20), ("fuse", b"fuse", b"fuse", 0), ("debugfs", b"none", b"debugfs", 0)):
    attempt("mount " + what, call, "mount", source, b"/tmp/m" if what not in ("remount", "shared") else b"/", kind, flags, None)
attempt("fsopen", call, "fsopen", b"tmpfs", 0)
attempt("open_tree", call, "open_tree", -100, b"/", 1)
attempt("move_mount", call, "move_mount", -100, b"/etc", -100, b"/tmp/m", 0)
attempt("mount_setattr", call, "mount_setattr", -100, b"/", 0, b"\0" * 32, 32)
for path in b"/proc/sys", b"/proc/kcore", b"/tmp", b"/.sandloop", b"/sys/firmware", b"/":
    attempt("umount " + path.decode(), call, "umount2", path, 2)
attempt("pivot_root", call, "pivot_root", b"/tmp", b"/tmp/m")
attempt("chroot", call, "chroot", b"/tmp")
attempt("swapon", call, "swapon", b"/tmp/m", 0)
attempt("acct", call, "acct", b"/tmp/acct")
attempt("quotactl", call, "quotactl", 0x80000100, b"/dev/sda", 0, None)
attempt("fanotify_init", call, "fanotify_init", 0, 0)
attempt("vhangup", call, "vhangup")
