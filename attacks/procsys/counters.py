# What the whole host does, as its counters show it: memory, load, time since it was started, disks, interrupts, keys of other users.
import os
from attack import *


def text(path):
    with open(path) as f:
        return f.read()


def shown(what, is_of_host):
    try:
        (escaped if is_of_host() else stopped)(what)
    except (OSError, IndexError, ValueError) as e:
        stopped(what, reason(e))


age = float(text("/proc/uptime").split()[0])
began = int(text("/proc/1/stat").rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
shown("memory of the host", lambda: int(text("/proc/meminfo").split()[1]) > 1 << 20)
shown("time since the host was started", lambda: age - (age - began) > 60)
shown("load of the host", lambda: int(text("/proc/loadavg").split()[3].split("/")[1]) > 40)
shown("disks of the host", lambda: text("/proc/diskstats").strip() != "")
shown("interrupts", lambda: len(text("/proc/interrupts").splitlines()) > 3)
shown("keys of other users", lambda: any(int(line.split(":")[0]) != os.getuid() for line in text("/proc/key-users").splitlines()))
