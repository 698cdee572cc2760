# A process that is stopped cannot end, and time goes on.
import os, signal
from attack import *

stopped("the wall-clock limit has to end it")
os.kill(os.getpid(), signal.SIGSTOP)
escaped("somebody continued it")
