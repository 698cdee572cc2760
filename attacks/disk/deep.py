# Folders in folders, deeper than a path can say, and names as long as can be, for whoever lists or wipes them.
import os
from attack import *

made = 0
try:
    for made in range(20_000):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
except OSError as e:
    stopped("deeper", reason(e))
stopped("%d folders deep" % made, "collecting and wiping have to come to their end")
