# Each process makes the next one and ends, so that whoever kills by number always comes too late.
import os
from attack import *

stopped("the end of the main process has to end the relay")
while True:
    try:
        if os.fork():
            os._exit(0)
        os.setsid()
    except OSError:
        pass
