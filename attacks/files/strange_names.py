# Names that mean something to a shell, a terminal, a web page or a path of another system.
import os
from attack import *

NAMES = ["-rf", "--", "$(reboot)", "`id`", "a;b", "a\nb", "a\x1b]0;title\x07b", "..\\..\\up", "C:evil", "CON", "<img src=x onerror=alert(1)>", "a'b\"c",
         "\u202egnp.exe", " ", "~", "*", "a|b", "%s%n", "{{7*7}}", ".sandloop-out", "=1+1"]
for name in NAMES:
    try:
        with open("out." + name, "w") as f:
            f.write("x")
        with open(name, "w") as f:
            f.write("x")
    except OSError as e:
        stopped(repr(name), reason(e))
with open(b"out.\xff\xfe", "w") as f:
    f.write("x")
stopped("%d names" % len(NAMES), "who collects has to write below the chosen folder only")
