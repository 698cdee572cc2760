"""Looks for a way out: there is no network, no name service and no secret to read."""
import socket

try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
    print("connected")
except OSError as error:
    print("connect:", error.strerror)
try:
    socket.gethostbyname("example.com")
    print("resolved")
except OSError:
    print("resolve: refused")
try:
    print(open("/etc/shadow").read())
except OSError:
    print("/etc/shadow: refused")
