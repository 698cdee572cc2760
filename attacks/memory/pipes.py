# Memory of the kernel: pipes and sockets full of what nobody reads.
import fcntl, os, socket
from attack import *

held, total = [], 0
try:
    while total < 300 << 20:
        read, write = os.pipe()
        held += [read, write]
        os.set_blocking(write, False)
        try:
            fcntl.fcntl(write, 1031, 1 << 20)  # F_SETPIPE_SZ
        except OSError:
            pass  # beyond what one user may have, pipes are small
        try:
            while True:
                total += os.write(write, b"x" * 65536)
        except BlockingIOError:
            pass
except OSError as e:
    stopped("pipes", reason(e))
try:
    while total < 300 << 20:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        held += [a, b]
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
        a.setblocking(False)
        try:
            while True:
                total += a.send(b"x" * 65536)
        except BlockingIOError:
            pass
except OSError as e:
    stopped("sockets", reason(e))
if total >= 300 << 20:
    escaped("300 MiB in pipes and sockets")
