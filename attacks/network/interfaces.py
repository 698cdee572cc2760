# Interfaces: others than loopback, new ones, and other addresses.
import fcntl, os, socket, struct
from attack import *

names = [name for _, name in socket.if_nameindex()]
for name in names:
    # These belong to the network namespace, are down and lead nowhere.
    harmless = name == "lo" or name.rstrip("0123456789_") in ("tunl", "gre", "gretap", "erspan", "ip_vti", "ip6_vti", "sit", "ip6tnl", "ip6gre", "teql")
    (stopped if harmless else escaped)("interface " + name)
attempt("/dev/net/tun", os.open, "/dev/net/tun", os.O_RDWR)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for what, number, argument in (("address of loopback", 0x8916, struct.pack("16sHH4s8x", b"lo", 2, 0, b"\x0a\0\0\1")), ("flags of loopback", 0x8914, struct.pack("16sH14x", b"lo", 0x143)),
                               ("name of loopback", 0x8923, struct.pack("16s16s", b"lo", b"lo0")), ("a new bridge", 0x89A0, b"evil".ljust(16, b"\0"))):
    attempt(what, fcntl.ioctl, s, number, argument)
attempt("bind to another interface", s.setsockopt, socket.SOL_SOCKET, 25, b"eth0\0")
attempt("SO_MARK", s.setsockopt, socket.SOL_SOCKET, 36, 1)
for host in "8.8.8.8", "255.255.255.255", "224.0.0.1", "192.0.2.1":
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.sendto(b"x", (host, 9))
        escaped("datagram to " + host)
    except OSError as e:
        stopped("datagram to " + host, reason(e))
