# Processes for the next program: stopped, traced, in other sessions, forking all the time, and one that waits to be the next's neighbour.
import os, signal, time
from attack import *


def daemon(work):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            work()
        os._exit(0)
    os.wait()


def fork_for_ever():
    while True:
        if os.fork():
            os._exit(0)


def stop():
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)


def write():
    while True:
        try:
            with open("/tmp/alive", "w") as f:
                f.write("x")
        except OSError:
            pass


for work in stop, write, fork_for_ever, lambda: time.sleep(600):
    daemon(work)
stopped("daemons are left", "the kill has to end them")
