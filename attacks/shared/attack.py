# What attacks in Python share: system calls by name, and one line for each attempt.
import ctypes, errno, os, sys

libc = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
PRINTED = 200  # lines of each kind; more tell nothing new

# The numbers of x86-64, and those of arm64.
CALLS = dict(
    mount=(165, 40), umount2=(166, 39), pivot_root=(155, 41), chroot=(161, 51), unshare=(272, 97), setns=(308, 268), clone=(56, 220),
    fsopen=(430, 430), open_tree=(428, 428), move_mount=(429, 429), mount_setattr=(442, 442), name_to_handle_at=(303, 264),
    open_by_handle_at=(304, 265), add_key=(248, 217), request_key=(249, 218), keyctl=(250, 219), bpf=(321, 280), perf_event_open=(298, 241),
    userfaultfd=(323, 282), io_uring_setup=(425, 425), init_module=(175, 105), finit_module=(313, 273), delete_module=(176, 106),
    kexec_load=(246, 104), reboot=(169, 142), swapon=(167, 224), swapoff=(168, 225), acct=(163, 89), quotactl=(179, 60), syslog=(103, 116),
    sethostname=(170, 161), setdomainname=(171, 162), settimeofday=(164, 170), clock_settime=(227, 112), clock_adjtime=(305, 266),
    adjtimex=(159, 171), fanotify_init=(300, 262), process_vm_readv=(310, 270), process_vm_writev=(311, 271), pidfd_open=(434, 434),
    pidfd_getfd=(438, 438), pidfd_send_signal=(424, 424), ioprio_set=(251, 30), mknodat=(259, 33), kcmp=(312, 272), setuid=(105, 146),
    setgid=(106, 144), setgroups=(116, 159), capset=(126, 91), personality=(135, 92), vhangup=(153, 58), process_madvise=(440, 440),
    migrate_pages=(256, 238), rt_tgsigqueueinfo=(297, 240), rt_sigqueueinfo=(129, 138), tgkill=(234, 131), mbind=(237, 235))
# These exist on x86-64 alone.
X86_CALLS = dict(iopl=172, ioperm=173, modify_ldt=154, uselib=134)


def call(name, *args):
    """Makes a system call. Raises OSError."""
    number = CALLS[name][0 if X86 else 1] if name in CALLS else X86_CALLS[name]
    result = libc.syscall(ctypes.c_long(number), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


counts = {"ESCAPED": 0, "stopped": 0}


def tell(kind, what, why=""):
    counts[kind] += 1
    if counts[kind] <= PRINTED:
        sys.stdout.write("%s: %s%s\n" % (kind, what, ": " + str(why) if why else ""))
        sys.stdout.flush()


def escaped(what, why=""):
    tell("ESCAPED", what, why)


def stopped(what, why=""):
    tell("stopped", what, why)


def reason(e):
    return errno.errorcode.get(e.errno, str(e)) if isinstance(e, OSError) and e.errno else type(e).__name__ + " " + str(e)


def attempt(what, function, *args, **named):
    """Whoever gets through here has escaped. Returns what the function did, or None."""
    try:
        result = function(*args, **named)
    except (OSError, ValueError, OverflowError, PermissionError) as e:
        stopped(what, reason(e))
        return None
    escaped(what)
    return result


def write(path, text):
    """Writes to a file that must be there, at once."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
