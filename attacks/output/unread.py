# Input that is never read, and output in pieces of one byte.
import os, sys
from attack import *

sys.stdout.flush()
for c in b"stopped: input was not read\n" * 50:
    os.write(1, bytes([c]))
