"""What the kernel counts and limits in this container, with version 1 and 2 of its control groups."""
import os


class Counters:
    """What the kernel counts for the container."""

    def __init__(self, root="/sys/fs/cgroup"):
        self.v2 = os.path.exists(root + "/cgroup.controllers")
        if self.v2:
            names = {"cpu": "cpu.stat", "oom": "memory.events", "peak": "memory.peak", "now": "memory.current", "pids": "pids.events"}
        else:
            names = {
                "cpu": "cpuacct/cpuacct.usage", "user": "cpuacct/cpuacct.usage_user", "system": "cpuacct/cpuacct.usage_sys",
                "oom": "memory/memory.oom_control", "peak": "memory/memory.max_usage_in_bytes",
                "now": "memory/memory.usage_in_bytes", "pids": "pids/pids.events",
            }
        self.files = {}
        for key, name in names.items():
            try:
                self.files[key] = os.open(os.path.join(root, name), os.O_RDONLY)
            except OSError:
                pass  # not known to this kernel

    def text(self, key):
        try:
            return os.pread(self.files[key], 4096, 0).decode()
        except (KeyError, OSError):
            return ""

    def number(self, key, field=None):
        text = self.text(key)
        if field is None:
            return int(text or 0)
        for line in text.splitlines():
            name, _, value = line.partition(" ")
            if name == field:
                return int(value)
        return 0

    def read(self):
        if self.v2:
            scale, cpu = 1e6, ("usage_usec", "user_usec", "system_usec")
            total, user, system = (self.number("cpu", field) for field in cpu)
        else:
            scale = 1e9
            total, user, system = self.number("cpu"), self.number("user"), self.number("system")
        return {
            "total": total / scale, "user": user / scale, "system": system / scale, "peak": self.number("peak"),
            "oom": self.number("oom", "oom_kill"), "pids": self.number("pids", "max"),
        }

    def since(self, before):
        """What was used since before, with the exact total split as the kernel's samples are."""
        now = self.read()
        total, user, system = (max(0, now[key] - before[key]) for key in ("total", "user", "system"))
        own = total * user / (user + system) if user + system > 0 else total
        peak = now["peak"] if now["peak"] > before["peak"] else self.number("now")
        return {
            "user": own, "system": total - own, "peak": peak,
            "oom": now["oom"] - before["oom"], "pids": now["pids"] - before["pids"],
        }


def full_disk():
    for path in ("/tmp", "/workspace"):
        try:
            found = os.statvfs(path)
        except OSError:
            continue
        if found.f_bavail == 0 or (found.f_files > 0 and found.f_ffree == 0):
            return path
    return ""
