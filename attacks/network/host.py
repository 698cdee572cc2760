# Services of the host: on its loopback interface, on all its addresses and on an abstract socket. The arguments are address:port and @name.
import socket
from attack import *


def connect(where, kind):
    if where.startswith("@"):
        s, address = socket.socket(socket.AF_UNIX, kind), "\0" + where[1:]
    else:
        host, port = where.rsplit(":", 1)
        host = host.strip("[]")
        s, address = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind), (host, int(port))
    with s:
        s.settimeout(2)
        s.connect(address)
        s.send(b"canary\n")
        if kind == socket.SOCK_DGRAM and not where.startswith("@") and not s.recv(1):
            raise OSError(errno.ECONNREFUSED, "")


for where in sys.argv[1:]:
    attempt("stream to " + where, connect, where, socket.SOCK_STREAM)
    attempt("datagram to " + where, connect, where, socket.SOCK_DGRAM)
for host in "172.17.0.1", "10.0.2.2", "192.168.65.2", "10.0.0.1", "192.168.0.1", "192.168.1.1":
    for port in 22, 80, 2375, 2376, 6379, 10250:
        attempt("%s port %d" % (host, port), connect, "%s:%d" % (host, port), socket.SOCK_STREAM)
