# What belongs to no process: shared memory, semaphores, messages of both kinds, abstract sockets, locks and listeners of daemons.
import ctypes, fcntl, os, socket, time
from attack import *

for key in range(1, 20):
    libc.shmget(key, 4096, 0o1666)
    libc.msgget(key, 0o1666)
    libc.semget(key, 1, 0o1666)
queue = ctypes.CDLL("librt.so.1", use_errno=True).mq_open(b"/left", os.O_CREAT | os.O_RDWR, 0o666, None)
if os.fork() == 0:
    os.setsid()
    held = [socket.create_server(("127.0.0.1", port)) for port in range(8000, 8020)]
    for name in "\0left", "/tmp/left.socket":
        s = socket.socket(socket.AF_UNIX)
        s.bind(name)
        s.listen()
        held.append(s)
    fcntl.flock(open("/etc/passwd"), fcntl.LOCK_EX)
    open("/tmp/up", "w").close()
    time.sleep(600)
while not os.path.exists("/tmp/up"):
    pass
stopped("objects are left", "the wipe has to take them")
