# A crash with much memory, to have it written somewhere, and a higher limit for that.
import ctypes, os, resource, signal
from attack import *

attempt("RLIMIT_CORE", resource.setrlimit, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for folder in "/workspace", "/tmp", "/dev/shm":
    os.chdir(folder)
    if os.fork() == 0:
        held = bytearray(b"x" * (16 << 20))
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        ctypes.string_at(0)
        os._exit(0)
    status = os.wait()[1]
    files = [name for name in os.listdir(folder) if "core" in name]
    if files or os.WCOREDUMP(status):
        escaped("core dump in " + folder, files)
    else:
        stopped("core dump in " + folder, "signal %d without one" % os.WTERMSIG(status))
