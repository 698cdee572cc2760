# Work of the kernel beside the system calls that a filter sees.
import ctypes
from attack import *

for entries in 1, 8:
    attempt("io_uring_setup %d" % entries, call, "io_uring_setup", entries, ctypes.create_string_buffer(256))
