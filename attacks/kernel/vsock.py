# AF_VSOCK, which no network namespace bounds: to the hypervisor, the host and other machines on it.
import socket
from attack import *

AF_VSOCK = 40
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET:
    attempt("socket of kind %d" % kind, socket.socket, AF_VSOCK, kind, 0)
for cid in (0, 1, 2, 3):
    try:
        s = socket.socket(AF_VSOCK, socket.SOCK_STREAM)
        s.settimeout(1)
        attempt("connect to %d" % cid, s.connect, (cid, 22))
    except OSError as e:
        stopped("connect to %d" % cid, reason(e))
