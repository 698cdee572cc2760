# The clock of the host, which all containers share.
import ctypes, time
from attack import *

attempt("settimeofday", call, "settimeofday", (ctypes.c_long * 2)(0, 0), None)
for clock in 0, 1, 7, 11:
    attempt("clock_settime %d" % clock, call, "clock_settime", clock, (ctypes.c_long * 2)(0, 0))
frequency = ctypes.create_string_buffer(b"\x02\0\0\0" + b"\0" * 300)
attempt("adjtimex", call, "adjtimex", frequency)
attempt("clock_adjtime", call, "clock_adjtime", 0, frequency)
attempt("time.clock_settime", time.clock_settime, time.CLOCK_REALTIME, 0.0)
for path in "/dev/rtc", "/dev/rtc0", "/dev/ptp0":
    attempt(path, open, path, "rb")
