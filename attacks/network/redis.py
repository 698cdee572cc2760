# The service's own Redis, where jobs and results are. The arguments are its addresses.
import os, socket
from attack import *


def write(host, port):
    with socket.create_connection((host, port), 2) as s:
        s.send(b"SET attacked yes\r\n")
        if not s.recv(64):
            raise OSError(errno.ECONNRESET, "")


for where in sys.argv[1:]:
    host, port = where.rsplit(":", 1)
    attempt(where, write, host.strip("[]"), int(port))
for port in 6379, 26379, 16379:
    for host in "127.0.0.1", "172.17.0.1":
        attempt("%s port %d" % (host, port), write, host, port)
for path in "/var/run/redis/redis.sock", "/run/redis/redis-server.sock", "/tmp/redis.sock":
    with socket.socket(socket.AF_UNIX) as s:
        attempt(path, s.connect, path)
for name, value in os.environ.items():
    if "REDIS" in name.upper() or "SANDLOOP" in name.upper() or "PASSW" in name.upper() or "TOKEN" in name.upper():
        escaped("variable " + name)
