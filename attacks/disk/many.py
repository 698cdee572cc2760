# More files than anybody wants to have, all of which are to be collected.
import os
from attack import *

for i in range(20_000):
    with open("f%05d" % i, "w") as f:
        f.write("x")
stopped("20,000 files", "the bound on their number has to refuse most of them")
