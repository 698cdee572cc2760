# A file that becomes a link and a file again, by processes that want to go on while files are collected.
import os
from attack import *

path = sys.argv[1]
for i in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            try:
                os.symlink(path, ".link%d" % i)
                os.rename(".link%d" % i, "out.race")
                with open(".file%d" % i, "w") as f:
                    f.write("plain")
                os.rename(".file%d" % i, "out.race")
            except OSError:
                pass
while not os.path.exists("out.race"):
    pass
stopped("it changes all the time", "nothing of it may run when files are collected")
