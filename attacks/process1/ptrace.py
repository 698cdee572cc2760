# To trace process 1, and to read and write its memory without tracing.
import ctypes, os
from attack import *

PTRACE_ATTACH, PTRACE_SEIZE, PTRACE_PEEKDATA = 16, 0x4206, 2


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def ptrace(request, pid, address=0, data=0):
    result = libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(address), ctypes.c_void_p(data))
    if result < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return result


for thread in [1] + list(range(2, 20)):
    attempt("attach to %d" % thread, ptrace, PTRACE_ATTACH, thread)
    attempt("seize %d" % thread, ptrace, PTRACE_SEIZE, thread)
    attempt("peek %d" % thread, ptrace, PTRACE_PEEKDATA, thread, 0x400000)
buffer = ctypes.create_string_buffer(64)
local, remote = Vector(ctypes.addressof(buffer), 64), Vector(0x400000, 64)
for name in "process_vm_readv", "process_vm_writev":
    attempt(name, call, name, 1, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
