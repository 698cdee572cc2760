# Raw packets, and the kernel's own messages: routes, filters, audit, devices.
import socket, struct
from attack import *

for protocol in (1, 6, 17, 255):
    attempt("raw IPv4 %d" % protocol, socket.socket, socket.AF_INET, socket.SOCK_RAW, protocol)
    attempt("raw IPv6 %d" % protocol, socket.socket, socket.AF_INET6, socket.SOCK_RAW, protocol)
for kind in socket.SOCK_RAW, socket.SOCK_DGRAM:
    attempt("packet", socket.socket, 17, kind, socket.htons(3))


def change(message, protocol, groups=0):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as s:
        s.bind((0, groups))
        s.send(struct.pack("IHHII", 16 + len(message[1]), message[0], 5, 1, 0) + message[1])
        s.settimeout(2)
        answer = s.recv(4096)
        code = struct.unpack("i", answer[16:20])[0] if struct.unpack("H", answer[4:6])[0] == 2 else 0
        if code:
            raise OSError(-code, "netlink")


attempt("a new dummy interface", change, (16, struct.pack("BxHiII", 0, 0, 0, 1, 1) + struct.pack("HH", 17, 3) + b"dummy9\0\0\0\0\0\0\0"), 0)
attempt("a new address on loopback", change, (20, struct.pack("BBBBI", 2, 8, 0, 0, 1) + struct.pack("HH4s", 8, 2, b"\x0a\x09\x08\x07")), 0)
attempt("a new route", change, (24, struct.pack("BBBBBBBBI", 2, 0, 0, 0, 254, 4, 253, 1, 0) + struct.pack("HHI", 8, 4, 1)), 0)
attempt("a table of nftables", change, (10 << 8, struct.pack("BBH", 1, 0, 0) + b"\x08\0\x01\0tab\0"), 12)
attempt("audit", change, (1001, struct.pack("10I", 1, 1, 0, 0, 0, 0, 0, 0, 0, 0)), 9)
attempt("messages of devices", change, (16, b""), 15, 1)
