# What runs next: sandbox-init, the interpreter, the compiler and the loader, and what they read when they start.
import os
from attack import *

for path in ("/.sandloop/sandbox-init", "/.sandloop", os.path.realpath(sys.executable), "/etc/ld.so.preload", "/etc/ld.so.cache", "/bin/sh", "/etc/passwd",
             "/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/usr/bin/gcc", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/python3/dist-packages/evil.pth",
             "/usr/local/lib/python3.11/dist-packages/sitecustomize.py", "/root/.bashrc", "/etc/profile", "/etc/bash.bashrc", "/var/lib/x"):
    try:
        fd = os.open(path, os.O_RDWR if os.path.exists(path) else os.O_RDWR | os.O_CREAT)
        escaped("write " + path)
        os.close(fd)
    except OSError as e:
        stopped("write " + path, reason(e))
attempt("remove sandbox-init", os.remove, "/.sandloop/sandbox-init")
attempt("remount", call, "mount", b"none", b"/.sandloop", None, 0x20, None)
# The program that is being executed, through the link of the process that executes it.
attempt("write the running program of process 1", os.open, "/proc/1/exe", os.O_WRONLY)
attempt("write the own running program", os.open, "/proc/self/exe", os.O_WRONLY)
