# Every signal to process 1 in every way there is. If one has an effect, the sandbox is gone and this program with it.
import ctypes, os
from attack import *


class Info(ctypes.Structure):
    _fields_ = [("signo", ctypes.c_int), ("errno", ctypes.c_int), ("code", ctypes.c_int), ("pad", ctypes.c_int * 29)]


def quietly(function, *args):
    try:
        function(*args)
    except OSError:
        pass


pidfd = None
try:
    pidfd = call("pidfd_open", 1, 0)
except OSError as e:
    stopped("pidfd_open", reason(e))
for number in range(1, 65):
    quietly(os.kill, 1, number)
    for code in (-1, -2, -3, -4, -5, -6, 0x80):
        info = Info(number, 0, code)
        quietly(call, "rt_sigqueueinfo", 1, number, ctypes.byref(info))
        for thread in range(1, 20):
            quietly(call, "rt_tgsigqueueinfo", 1, thread, number, ctypes.byref(info))
            quietly(call, "tgkill", 1, thread, number)
        if pidfd is not None:
            quietly(call, "pidfd_send_signal", pidfd, number, ctypes.byref(info), 0)
stopped("process 1 is there after 64 signals", open("/proc/1/comm").read().strip())
