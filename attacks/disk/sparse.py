# Files that are large and hold nothing, to be collected by whoever reads them to their end.
import os
from attack import *

for name in "a.sparse", "b.sparse":
    with open(name, "wb") as f:
        try:
            f.truncate(1 << 40)
        except OSError as e:
            stopped("truncate", reason(e))
            f.truncate(1 << 30)
stopped("files of up to 1 TiB are made", "the bound on what is collected has to refuse them")
with open("c.sparse", "wb") as f:
    attempt("allocate 1 GiB", os.posix_fallocate, f.fileno(), 0, 1 << 30)
os.remove("c.sparse")
