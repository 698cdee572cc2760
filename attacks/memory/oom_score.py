# To be the last that the kernel kills, and to have process 1 or the host's processes killed instead.
import os
from attack import *

attempt("own oom_score_adj -1000", write, "/proc/self/oom_score_adj", "-1000")
attempt("oom_score_adj of process 1", write, "/proc/1/oom_score_adj", "1000")
attempt("oom_adj", write, "/proc/self/oom_adj", "-17")
for path in "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.oom_control":
    attempt(path, write, path, "1")
held = [bytearray(b"x" * (8 << 20)) for _ in range(64)]
escaped("512 MiB")
