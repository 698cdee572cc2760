# The cache of files: everything in the image that can be read, again and again, and what was written and dropped.
import os, time
from attack import *

# The cache may be dropped whenever it is in the way, so that it is no end of the program, and no more than the limit.
total, begun = 0, time.monotonic()
for _ in range(2):
    for folder, _, names in os.walk("/usr"):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as f:
                    while piece := f.read(1 << 20):
                        total += len(piece)
            except OSError:
                pass
        if time.monotonic() - begun > 6:
            break
for path in "/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory.current":
    if os.path.exists(path):
        usage = int(open(path).read())
        (escaped if usage > 256 << 20 else stopped)("%d MiB of files read, %d MiB of memory charged" % (total >> 20, usage >> 20))
        break
else:
    stopped("%d MiB of files read" % (total >> 20), "no cgroup can be seen")
