# Counters of the processor, which measure the kernel and the neighbours.
import struct
from attack import *

for kind in range(6):
    for config in 0, 1, 9:
        attributes = struct.pack("IIQQQQQ", kind, 112, config, 0, 0, 0, 1 << 5 | 1 << 6).ljust(112, b"\0")
        for pid in (0, 1, -1):
            attempt("event %d:%d of %d" % (kind, config, pid), call, "perf_event_open", attributes, pid, -1 if pid >= 0 else 0, -1, 0)
