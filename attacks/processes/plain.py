# Copies of copies of itself, without end. Limits allow 64.
import os
from attack import *

first = os.getpid()
made = 0
while True:
    try:
        if os.fork() != 0 and os.getpid() == first:
            made += 1
            if made == 200:
                escaped("fork", "200 children of one process")
    except OSError as e:
        if os.getpid() == first and counts["stopped"] == 0:
            stopped("fork", reason(e))
