# What a program can leave, by name, and all that a program can look at to find it. Run as
#   traces.py look           print everything that is seen
#   traces.py leave NAME     leave something, and end
#   traces.py control NAME   leave it and look while it is there: what is printed must differ from a look
import array, ctypes, errno, fcntl, mmap, os, pty, re, resource, signal, socket, stat, struct, subprocess, sys, time

libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
CALLS = dict(shmget=(29, 194), shmat=(30, 196), semget=(64, 190), semop=(65, 193), msgget=(68, 186), msgsnd=(69, 189),
             mq_open=(240, 180), mq_timedsend=(242, 182), add_key=(248, 217), keyctl=(250, 219), ioprio_get=(252, 31),
             ioprio_set=(251, 30), personality=(135, 92), unshare=(272, 97), clock_adjtime=(305, 266), io_uring_setup=(425, 425))
PLACES = "/tmp", "/workspace", "/dev/shm"
IMAGE_FILES = "/etc/passwd", os.path.realpath(sys.executable), "/bin/sh", "/.sandloop/sandbox-init"


def call(name, *args):
    result = libc.syscall(CALLS[name][0 if X86 else 1], *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def attempt(what, function, *args):
    """The outcome of a call in words."""
    try:
        return what, function(*args)
    except OSError as e:
        return what, errno.errorcode.get(e.errno, e.errno)


# ---- looking

def tree(top):
    for name in sorted(os.listdir(os.fsencode(top))):
        path = os.path.join(os.fsencode(top), name)
        info = os.lstat(path)
        print("  entry", path, oct(info.st_mode), info.st_size, info.st_nlink)
        if stat.S_ISDIR(info.st_mode):
            print("  below", attempt("list", os.listdir, path))


def status(path, names):
    for line in open(path):
        if line.split(":")[0] in names:
            print(" ", line.split())


def await_own_score():
    """Process 1 has its children's score for a moment when it starts one."""
    tries = 5000
    while tries > 0 and open("/proc/1/oom_score_adj").read() == open("/proc/self/oom_score_adj").read():
        time.sleep(0.001)
        tries -= 1
    if tries == 0:
        print("  it keeps its children's score")


def of_process_1():
    print("process 1")
    await_own_score()
    status("/proc/1/status", ("Umask", "TracerPid", "Threads", "SigBlk", "SigIgn", "SigCgt", "Seccomp", "Cpus_allowed_list"))
    for name in "limits", "oom_score_adj", "autogroup":
        print(" ", attempt(name, lambda: open("/proc/1/" + name).read()))
    for tid in sorted(map(int, os.listdir("/proc/1/task"))):
        print("  thread", tid, os.getpriority(os.PRIO_PROCESS, tid), os.sched_getaffinity(tid), os.sched_getscheduler(tid),
              call("ioprio_get", 1, tid))


def of_itself():
    print("own")
    status("/proc/self/status", ("Umask", "TracerPid", "Groups", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt", "CapEff",
                                 "NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed_list", "Mems_allowed_list"))
    print("  environment", sorted(os.environb.items()))
    print("  arguments", sys.argv[0], sys.flags, sys.path, os.getcwd())
    print("  limits", [resource.getrlimit(i) for i in range(16)])
    print("  scheduling", os.nice(0), os.sched_getscheduler(0), os.sched_getaffinity(0), call("ioprio_get", 1, 0))
    print("  oom_score_adj", open("/proc/self/oom_score_adj").read().strip())
    print("  personality", call("personality", ctypes.c_ulong(0xffffffff)), "slack", libc.prctl(30), "dumpable", libc.prctl(3))
    print("  group leader", os.getpgrp() == os.getpid(), os.getsid(0) == os.getpid())
    for fd in range(256):
        try:
            print("  descriptor", fd, os.readlink("/proc/self/fd/%d" % fd).split("[")[0], fcntl.fcntl(fd, fcntl.F_GETFL))
        except OSError:
            pass
    print("  terminal", attempt("tty", lambda: open("/dev/tty")), os.listdir("/dev/pts"))


def of_processes():
    print("processes")
    for pid in sorted(int(p) for p in os.listdir("/proc") if p.isdigit()):
        if pid != os.getpid():
            try:
                print(" ", open("/proc/%d/comm" % pid).read().strip())
            except (FileNotFoundError, ProcessLookupError):
                print("  one that has just ended")
    print("  tasks", [len(open(p).readlines()) for p in ("/sys/fs/cgroup/pids/tasks", "/sys/fs/cgroup/cgroup.threads") if os.path.exists(p)])


def of_ipc():
    print("ipc")
    for kind in "shm", "msg", "sem":
        print("  System V", kind, open("/proc/sysvipc/" + kind).readlines()[1:])
    print("  by key", attempt("shm", call, "shmget", 77, 0, 0), attempt("msg", call, "msgget", 77, 0), attempt("sem", call, "semget", 77, 0, 0))
    print("  queues", os.listdir("/dev/mqueue"), attempt("left", call, "mq_open", b"left", os.O_RDWR))


def of_sockets():
    print("sockets")
    for name in "unix", "tcp", "tcp6", "udp", "udp6", "raw", "packet", "netlink":
        path = "/proc/net/" + name
        if os.path.exists(path):
            print("  ", name, [l.split() for l in open(path).readlines()[1:]])
    for line in open("/proc/net/sockstat"):  # in which memory and some other figures are the host's
        print("  ", re.findall("^\\w+:|used \\d+|inuse \\d+|tw \\d+", line))
    for path in ("\0left", "/tmp/socket", "/workspace/socket", "/dev/shm/socket"):
        for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
            with socket.socket(socket.AF_UNIX, kind) as s:
                print("  connect", attempt(repr(path), s.connect, path))
    for port in 9000, 9001:
        with socket.socket() as s, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as u:
            print("  port", attempt(port, s.bind, ("127.0.0.1", port)), attempt(port, u.bind, ("127.0.0.1", port)))


def of_locks():
    print("locks")
    for path in IMAGE_FILES:
        try:
            with open(path) as f:
                print("  flock", attempt(path, fcntl.flock, f, fcntl.LOCK_EX | fcntl.LOCK_NB))
                for command in fcntl.F_GETLK, 36:  # F_OFD_GETLK
                    lock = fcntl.fcntl(f, command, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
                    print("  lock", command, path, struct.unpack("hhqqi4x", lock)[0] == fcntl.F_UNLCK)
        except OSError as e:
            print("  open", path, e.errno)


def look():
    print("files")
    for place in PLACES + ("/dev/mqueue", "/dev"):
        print(" ", place, [getattr(os.stat(place), a) for a in ("st_mode", "st_uid", "st_gid")])
        tree(place)
    of_processes()
    of_process_1()
    of_itself()
    of_ipc()
    of_sockets()
    of_locks()
    print("rest")
    print("  host", os.uname().nodename, open("/proc/self/mountinfo").read().count("\n"), attempt("keys", lambda: open("/proc/keys").read()))
    print("  clock", abs(time.time() - time.clock_gettime(time.CLOCK_REALTIME)) < 1)


# ---- leaving

def daemon(work=None, stop=False):
    """Leaves a process that nobody knows of and that no signal but one ends. Returns when its work is done."""
    read, write = os.pipe()
    if os.fork():
        os.close(write)
        assert os.read(read, 1) == b"x"
        os.wait()
        return
    if os.fork():
        os._exit(0)
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    kept = work() if work else None
    os.write(write, b"x")
    os.closerange(0, 3)
    os.close(write)
    if stop:
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        time.sleep(600)
    print(kept)


def files():
    for place in PLACES:
        open(place + "/file", "w").write("x" * 5000)
        open(os.fsencode(place) + b"/.hidden\n\xff", "w").write("x")
        os.mkfifo(place + "/fifo")
        os.symlink("/etc/passwd", place + "/link")
        os.link(place + "/file", place + "/second")
        socket.socket(socket.AF_UNIX).bind(place + "/socket")
        os.truncate(os.open(place + "/sparse", os.O_CREAT | os.O_RDWR), 1 << 40)
        os.chmod(place + "/file", 0o6777)
    os.chmod("/workspace/traces.py", 0)


def closed_directories():
    for place in PLACES:
        os.makedirs(place + "/a/b/c")
        open(place + "/a/b/c/file", "w").write("x")
        os.chmod(place + "/a/b/c", 0)
        os.chmod(place + "/a/b", 0o111)
        os.chmod(place + "/a", 0)


def deep_directories():
    for place in PLACES:
        os.chdir(place)
        for _ in range(1000):
            os.mkdir("d")
            os.chdir("d")
        open("file", "w").write("x")


def home():
    """What interpreters and shells read by themselves."""
    where = "/tmp/.local/lib/python%d.%d/site-packages" % sys.version_info[:2]
    os.makedirs(where)
    open(where + "/usercustomize.py", "w").write("print('left')")
    open("/workspace/os.py", "w").write("print('left')")
    for name in ".profile", ".bashrc", ".bash_profile", ".npmrc", ".gdbinit":
        open("/tmp/" + name, "w").write("echo left")


def deleted_file():
    def work():
        f = open("/workspace/deleted", "w+b")
        f.write(bytes(30 << 20))
        f.flush()
        os.remove("/workspace/deleted")
        return mmap.mmap(f.fileno(), 0), f
    daemon(work)


def several_daemons():
    for _ in range(10):
        daemon()


def stopped_daemon():
    daemon(stop=True)


def traced_daemon():
    daemon(lambda: libc.ptrace(0, 0, 0, 0))  # PTRACE_TRACEME: process 1 becomes the tracer


def forking_daemon():
    """Is never the same process for long."""
    read, write = os.pipe()
    if os.fork():
        assert os.read(read, 1) == b"x"
        return
    os.setsid()
    for _ in range(3):
        if os.fork() == 0:
            break
    os.closerange(0, 3)
    os.write(write, b"x")
    while True:
        time.sleep(0.01)  # so that the dead are reaped before they reach the limit of processes
        if os.fork():
            os._exit(0)


def zombies():
    for _ in range(20):
        if os.fork() == 0:
            os._exit(0)
    time.sleep(0.05)


def terminal():
    daemon(lambda: pty.openpty())


def sysv():
    memory, queue, semaphores = call("shmget", 77, 1 << 20, 0o1666), call("msgget", 77, 0o1666), call("semget", 77, 3, 0o1666)
    call("shmget", 0, 4096, 0o1000)
    libc.shmat.restype = ctypes.c_void_p
    ctypes.memset(libc.shmat(memory, None, 0), 65, 1 << 20)
    call("msgsnd", queue, struct.pack("l", 1) + b"left", 4, 0)
    call("semop", semaphores, struct.pack("Hhh", 0, 1, 0), 1)


def message_queue():
    fd = call("mq_open", b"left", os.O_CREAT | os.O_RDWR, 0o666, None)
    call("mq_timedsend", fd, b"left", 4, 0, None)


def posix_semaphore():
    libc = ctypes.CDLL(None)
    libc.sem_open.restype = ctypes.c_void_p
    assert libc.sem_open(b"/left", os.O_CREAT, 0o666, 3)
    os.close(os.open("/dev/shm/memory", os.O_CREAT | os.O_RDWR, 0))


def abstract_socket():
    def work():
        s, d = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind("\0left")
        s.listen()
        d.bind("\0datagrams")
        return s, d
    daemon(work)


def listeners():
    def work():
        servers = socket.create_server(("127.0.0.1", 9000)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET6)
        servers[1].bind(("127.0.0.1", 9001))
        servers[2].bind(("::1", 9002)) if os.path.exists("/proc/net/if_inet6") and open("/proc/net/if_inet6").read() else None
        return servers
    daemon(work)


def in_flight():
    """Sockets on their way to each other, which no process has open any more, with locked files in them."""
    for _ in range(20):
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\0flight%d" % _)
        listener.listen()
        locked = open("/etc/passwd")
        fcntl.flock(locked, fcntl.LOCK_SH)
        memory = os.memfd_create("left")
        os.write(memory, bytes(1 << 20))
        for end, other in (a, b), (b, a):
            rights = array.array("i", [a.fileno(), b.fileno(), listener.fileno(), locked.fileno(), memory])
            end.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])


def locks():
    def work():
        kept = []
        for path in IMAGE_FILES[:3]:
            f = open(path)
            fcntl.flock(f, fcntl.LOCK_EX)
            g = open(path)
            fcntl.fcntl(g, fcntl.F_OFD_SETLK if hasattr(fcntl, "F_OFD_SETLK") else 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 10, 0))
            fcntl.fcntl(g, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 20, 10, 0))
            kept += f, g
        return kept
    daemon(work)


def own_state():
    """All that a program can change about itself."""
    os.environ["LEFT"] = "left"
    os.umask(0o777)
    os.nice(5)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    call("ioprio_set", 1, 0, 3 << 13)
    for limit in resource.RLIMIT_NOFILE, resource.RLIMIT_STACK, resource.RLIMIT_FSIZE, resource.RLIMIT_AS:
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (64 << 20 if limit != resource.RLIMIT_NOFILE else 128, hard))
    open("/proc/self/oom_score_adj", "w").write("900")
    call("personality", 0x0020000)  # UNAME26
    libc.prctl(29, 12345)  # PR_SET_TIMERSLACK
    libc.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    signal.alarm(1000)
    os.chdir("/")


def process_1():
    """All that must not work. Every line must be a refusal."""
    for tid in [1] + sorted(map(int, os.listdir("/proc/1/task")))[-1:]:
        print(attempt("nice", os.setpriority, os.PRIO_PROCESS, tid, 10))
        print(attempt("policy", os.sched_setscheduler, tid, os.SCHED_IDLE, os.sched_param(0)))
        print(attempt("processors", os.sched_setaffinity, tid, {0}))
        print(attempt("ioprio", call, "ioprio_set", 1, tid, 3 << 13))
        for limit in range(16):
            print(attempt("limit", resource.prlimit, tid, limit, (0, 0)))
    print(attempt("group", os.setpriority, os.PRIO_PGRP, 1, 10))
    print(attempt("user", os.setpriority, os.PRIO_USER, os.getuid(), 10))
    for name in "oom_score_adj", "oom_adj", "timerslack_ns", "autogroup", "comm", "clear_refs", "mem", "sched", "attr/current", "uid_map":
        if os.path.exists("/proc/1/" + name):
            print(attempt(name, lambda: os.write(os.open("/proc/1/" + name, os.O_WRONLY), b"1")))
    for name in "fd", "cwd", "root", "environ", "maps", "ns/net":
        print(attempt(name, lambda: (os.listdir if name == "fd" else os.readlink if name in ("cwd", "root", "ns/net") else open)("/proc/1/" + name)))
    print(attempt("trace", lambda: libc.ptrace(16, 1, 0, 0) and call("ioprio_set", 1, 1, 0)))
    print(attempt("clock", time.clock_settime, time.CLOCK_REALTIME, time.time() + 86400))
    print(attempt("clock", time.clock_settime, time.CLOCK_MONOTONIC, 86400))
    print(attempt("clock", call, "clock_adjtime", 0, ctypes.create_string_buffer(b"\x01\0\0\0", 208)))
    print(attempt("host name", socket.sethostname, "left"))
    print(attempt("namespace", call, "unshare", 0x10000000))
    print(attempt("key", call, "add_key", b"user", b"left", b"left", 4, -4))
    print(attempt("keyring", call, "keyctl", 1, b"left"))
    print(attempt("ring", call, "io_uring_setup", 8, ctypes.create_string_buffer(200)))
    print(attempt("cgroup", os.mkdir, [p for p in ("/sys/fs/cgroup/pids/left", "/sys/fs/cgroup/left") if os.path.exists(os.path.dirname(p))][0]))
    print(attempt("sysctl", lambda: open("/proc/sys/kernel/msgmax", "w")))
    print(attempt("image", lambda: open("/usr/bin/left", "w")))
    print(attempt("sandbox-init", lambda: open("/.sandloop/sandbox-init", "r+")))
    for place in PLACES + ("/dev/mqueue", "/dev"):
        print(attempt(place, os.chmod, place, 0o700))
        print(attempt(place, os.utime, place, (1, 1)))


def signals():
    """Signals to process 1, while it is at work."""
    for _ in range(50):
        for number in range(1, 65):
            os.kill(1, number)
            libc.syscall(129 if X86 else 138, 1, number, struct.pack("iii", number, 0, -1) + bytes(128))  # rt_sigqueueinfo


if __name__ == "__main__":
    if sys.argv[1] == "look":
        look()
    else:
        globals()[sys.argv[2]]()
        if sys.argv[1] == "control":
            sys.stdout.flush()
            look()
