# The other sandbox: whatever an attack could find, and a line for each visit.
import ctypes, fcntl, os, select, signal, socket, sys
libc = ctypes.CDLL(None)
for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1:
    signal.signal(number, lambda n, _: os.write(1, b"visited: signal %d\n" % n))
abstract = socket.socket(socket.AF_UNIX)
abstract.bind("\0sandloop-attack-victim")
abstract.listen()
listening = [abstract, socket.create_server(("0.0.0.0", 4711))]
try:
    listening.append(socket.create_server(("::1", 4711), family=socket.AF_INET6))
except OSError:
    pass  # there is no IPv6
assert libc.shmget(4711, 4096, 0o1666) >= 0 and libc.msgget(4711, 0o1666) >= 0 and libc.semget(4711, 1, 0o1666) >= 0
for path in "/dev/shm/victim", "/tmp/victim":
    with open(path, "w") as f:
        f.write("secret")
locked = []
for path in ("/.sandloop", "/.sandloop/sandbox-init", "/", "/etc/passwd", "/etc", os.path.realpath(sys.executable), "/bin/sh", "/proc", "/proc/version", "/sys", "/sys/kernel",
             "/dev", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/full", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/proc/sys/kernel/hostname", "/sys/fs/cgroup"):
    try:
        fd = os.open(path, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        locked.append(fd)
    except OSError:
        pass
nice = os.getpriority(os.PRIO_PROCESS, 0)
print("ready", flush=True)
while True:
    for s in select.select(listening, [], [], 0.2)[0]:
        s.accept()
        print("visited: connection", flush=True)
    if os.getpriority(os.PRIO_PROCESS, 0) != nice:
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        print("visited: priority", flush=True)
