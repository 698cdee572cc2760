# Children that end and that nobody waits for.
import os, time
from attack import *

made = 0
try:
    while made < 200:
        if os.fork() == 0:
            os._exit(0)
        made += 1
    escaped("zombies", made)
except OSError as e:
    stopped("fork", reason(e) + " after %d zombies" % made)
time.sleep(600)
