# Memory that moves to swap to make room for more, and swap of its own.
import ctypes, mmap, os
from attack import *

open("/tmp/swap", "wb").truncate(16 << 20)
attempt("swapon", call, "swapon", b"/tmp/swap", 0)
attempt("swapoff", call, "swapoff", b"/dev/sda")
MADV_PAGEOUT = 21
held = []
for i in range(64):
    m = mmap.mmap(-1, 8 << 20)
    m.write(b"x" * (8 << 20))
    try:
        m.madvise(MADV_PAGEOUT)
    except OSError as e:
        stopped("madvise", reason(e))
    held.append(m)
escaped("512 MiB with swap")
