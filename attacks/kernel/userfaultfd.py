# Page faults of the kernel that wait for as long as the attacker likes, the tool of many exploits.
import os
from attack import *

for flags in 0, 1, 0o2000000, 0o2000001:
    attempt("userfaultfd %o" % flags, call, "userfaultfd", flags)
attempt("/dev/userfaultfd", os.open, "/dev/userfaultfd", os.O_RDWR)
