# Another sandbox of the same host and user: its sockets, its shared memory, its processes and files.
import ctypes, glob, os, signal, socket
from attack import *

with socket.socket(socket.AF_UNIX) as s:
    attempt("abstract socket", s.connect, "\0sandloop-attack-victim")
for host in "127.0.0.1", "::1", "172.17.0.2", "172.17.0.3":
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as s:
        s.settimeout(2)
        attempt("port 4711 of " + host, s.connect, (host, 4711))
for name, function, args in (("shmget", libc.shmget, (4711, 0, 0)), ("msgget", libc.msgget, (4711, 0)), ("semget", libc.semget, (4711, 0, 0))):
    if function(*args) >= 0:
        escaped("System V: " + name)
    else:
        stopped("System V: " + name, errno.errorcode[ctypes.get_errno()])
for path in glob.glob("/dev/shm/*") + glob.glob("/dev/mqueue/*") + glob.glob("/tmp/victim*"):
    escaped("file " + path)
for pid in os.listdir("/proc"):
    if pid.isdigit() and pid not in ("1", str(os.getpid())):
        try:
            escaped("process %s" % pid, open("/proc/%s/cmdline" % pid).read())
        except OSError:
            pass
stopped("%d processes are seen" % sum(p.isdigit() for p in os.listdir("/proc")))
# The user is the same for the whole host. What is counted and signalled by user must not reach the other.
try:
    os.kill(-1, signal.SIGTERM)
except OSError as e:
    stopped("SIGTERM to all", reason(e))
attempt("priority of the user's processes", os.setpriority, os.PRIO_USER, os.getuid(), 19)
