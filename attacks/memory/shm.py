# Shared memory of System V, of which no process is the owner, and memory files without a name.
import ctypes, os
from attack import *

libc.shmat.restype = ctypes.c_void_p
stopped("the kernel's limit has to end it")
for i in range(32):
    segment = libc.shmget(0, ctypes.c_size_t(16 << 20), 0o1600)
    address = libc.shmat(segment, None, 0) if segment >= 0 else ctypes.c_void_p(-1).value
    if address == ctypes.c_void_p(-1).value:
        stopped("shmget", errno.errorcode[ctypes.get_errno()])
        break
    ctypes.memset(address, 1, 16 << 20)
    libc.shmdt(ctypes.c_void_p(address))
else:
    escaped("512 MiB of shared memory")
