# The host's name and the sandbox's own.
import os
from attack import *

attempt("sethostname", call, "sethostname", b"attacked", 8)
attempt("setdomainname", call, "setdomainname", b"attacked", 8)
for name in "hostname", "domainname":
    attempt("/proc/sys/kernel/" + name, write, "/proc/sys/kernel/" + name, "attacked")
stopped("the name is", os.uname().nodename)
