# What /proc and /sys tell of the host: memory, keys, timers, addresses of the kernel, devices.
import os
from attack import *

for path in ("/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/kmsg", "/proc/kpageflags", "/proc/kpagecount",
             "/proc/slabinfo", "/proc/vmallocinfo", "/proc/iomem", "/proc/interrupts_", "/proc/config_", "/sys/firmware/efi/vars", "/sys/firmware/dmi/tables/DMI", "/sys/kernel/debug/x",
             "/sys/kernel/tracing/trace", "/sys/fs/pstore/x", "/proc/sys/kernel/cad_pid", "/sys/class/powercap/intel-rapl:0/energy_uj", "/sys/devices/virtual/powercap/x"):
    try:
        with open(path, "rb") as f:
            text = f.read(4096)
        # Addresses that are all 0 tell nothing.
        if text.strip(b"\0 \n-:0") and not (path == "/proc/iomem" and b"00000000-00000000" in text):
            escaped("read " + path, text[:40])
        else:
            stopped(path, "is empty")
    except OSError as e:
        stopped(path, reason(e))
try:
    with open("/proc/kallsyms") as f:
        first = [line.split()[0] for _, line in zip(range(50), f)]
    known = any(int(address, 16) for address in first)
    (escaped if known else stopped)("addresses of the kernel", first[:2])
except OSError as e:
    stopped("addresses of the kernel", reason(e))
for folder in "/proc/acpi", "/proc/scsi", "/sys/firmware", "/sys/kernel/debug", "/sys/kernel/tracing":
    try:
        found = os.listdir(folder)
        (escaped if found else stopped)("list " + folder, found[:3] or "is empty")
    except OSError as e:
        stopped("list " + folder, reason(e))
