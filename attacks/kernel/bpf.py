# Programs in the kernel.
import ctypes
from attack import *

instructions = (ctypes.c_ulonglong * 2)(0x00000000000000B7, 0x0000000000000095)
licence = ctypes.create_string_buffer(b"GPL")
for kind in range(1, 30):
    load = (ctypes.c_ulonglong * 18)(kind | 2 << 32, ctypes.addressof(instructions), ctypes.addressof(licence))
    attempt("load a program of kind %d" % kind, call, "bpf", 5, load, 144)
for kind in 1, 2, 3, 5, 27:
    attempt("a map of kind %d" % kind, call, "bpf", 0, (ctypes.c_uint * 20)(kind, 4, 4, 4), 80)
