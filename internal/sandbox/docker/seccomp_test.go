package docker

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/moby/profiles/seccomp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// systemCall is a call as calls.py makes it. Texts are passed as C strings, "&" as a buffer of zeros and "pid" as the caller's own id.
type systemCall struct {
	Name   string `json:"name"`
	Number int    `json:"number"`
	Args   []any  `json:"args"`
}

// makeCalls tells how the kernel answers: "ok" or the name of the error.
func makeCalls(t *testing.T, b *bundle, calls []systemCall) map[string]string {
	t.Helper()
	stdin, err := json.Marshal(calls)
	require.NoError(t, err)
	program := python(
		"import ctypes, errno, json, os, sys",
		"libc = ctypes.CDLL(None, use_errno=True)",
		"def value(arg):",
		"    if arg == '&': return ctypes.create_string_buffer(4096)",
		"    if arg == 'pid': return ctypes.c_long(os.getpid())",
		"    return ctypes.c_char_p(arg.encode()) if isinstance(arg, str) else ctypes.c_long(arg)",
		"answers = {}",
		"for call in json.load(sys.stdin):",
		"    ctypes.set_errno(0)",
		"    failed = libc.syscall(ctypes.c_long(call['number']), *map(value, call['args'] or [])) < 0",
		"    answers[call['name']] = errno.errorcode[ctypes.get_errno()] if failed else 'ok'",
		"print(json.dumps(answers))",
	)
	program.Stdin = stdin
	result := b.run(t, program)
	require.Equal(t, sandbox.OutcomeOK, result.Outcome, "%s %s", result.Message, result.Stderr.Data)
	answers := map[string]string{}
	require.NoError(t, json.Unmarshal(result.Stdout.Data, &answers))
	require.Len(t, answers, len(calls))
	return answers
}

// Numbers of families and protocols that package unix does not name or that read better so.
const (
	atFDCWD                                = unix.AT_FDCWD
	ipprotoSCTP, ipprotoMPTCP, ipprotoDCCP = 132, 262, 33
	uevents                                = 15 // NETLINK_KOBJECT_UEVENT
)

// refusedCalls are those that a program must not be able to make, whatever its arguments.
func refusedCalls() []systemCall {
	calls := []systemCall{
		{"add_key", unix.SYS_ADD_KEY, []any{"user", "x", "y", 1, -3}},
		{"request_key", unix.SYS_REQUEST_KEY, []any{"user", "x", 0, -3}},
		{"keyctl", unix.SYS_KEYCTL, []any{0, -3, 1}},
		{"bpf", unix.SYS_BPF, []any{0, "&", 48}},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, []any{"&", 0, -1, -1, 0}},
		{"userfaultfd", unix.SYS_USERFAULTFD, []any{1}},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, []any{1, "&"}},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, []any{-1, 0, 0, 0, 0}},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, []any{-1, 0, 0, 0}},
		{"io_setup", unix.SYS_IO_SETUP, []any{1, "&"}},
		{"io_submit", unix.SYS_IO_SUBMIT, []any{0, 0, 0}},
		{"ptrace", unix.SYS_PTRACE, []any{0, 0, 0, 0}},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, []any{"pid", 0, 0, 0, 0, 0}},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, []any{"pid", 0, 0, 0, 0, 0}},
		{"process_mrelease", unix.SYS_PROCESS_MRELEASE, []any{-1, 0}},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, []any{-1, 0, 0}},
		{"kcmp", unix.SYS_KCMP, []any{"pid", "pid", 0, 0, 0}},
		{"unshare user", unix.SYS_UNSHARE, []any{unix.CLONE_NEWUSER}},
		{"unshare nothing", unix.SYS_UNSHARE, []any{0}},
		{"setns", unix.SYS_SETNS, []any{-1, 0}},
		{"clone user", unix.SYS_CLONE, []any{unix.CLONE_NEWUSER | int(unix.SIGCHLD), 0, 0, 0, 0}},
		{"clone3", unix.SYS_CLONE3, []any{"&", 88}},
		{"mount", unix.SYS_MOUNT, []any{"none", "/tmp", "tmpfs", 0, 0}},
		{"umount2", unix.SYS_UMOUNT2, []any{"/tmp", 0}},
		{"pivot_root", unix.SYS_PIVOT_ROOT, []any{"/tmp", "/tmp"}},
		{"chroot", unix.SYS_CHROOT, []any{"/tmp"}},
		{"open_tree", unix.SYS_OPEN_TREE, []any{atFDCWD, "/tmp", 0}},
		{"move_mount", unix.SYS_MOVE_MOUNT, []any{atFDCWD, "/tmp", atFDCWD, "/tmp", 0}},
		{"fsopen", unix.SYS_FSOPEN, []any{"tmpfs", 0}},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, []any{atFDCWD, "/tmp", 0, "&", 32}},
		{"statmount", unix.SYS_STATMOUNT, []any{"&", "&", 512, 0}},
		{"listmount", unix.SYS_LISTMOUNT, []any{"&", "&", 1, 0}},
		{"quotactl", unix.SYS_QUOTACTL, []any{0, 0, 0, 0}},
		{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, []any{atFDCWD, "/tmp", "&", "&", 0}},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, []any{atFDCWD, "&", 0}},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, []any{0, 0}},
		{"fanotify_mark", unix.SYS_FANOTIFY_MARK, []any{-1, 0, 0, 0, 0}},
		{"memfd_secret", unix.SYS_MEMFD_SECRET, []any{0}},
		{"remap_file_pages", unix.SYS_REMAP_FILE_PAGES, []any{0, 0, 0, 0, 0}},
		{"vmsplice", unix.SYS_VMSPLICE, []any{1, 0, 0, 0}},
		{"sync", unix.SYS_SYNC, nil},
		{"syslog", unix.SYS_SYSLOG, []any{10, 0, 0}},
		{"adjtimex", unix.SYS_ADJTIMEX, []any{"&"}},
		{"clock_adjtime", unix.SYS_CLOCK_ADJTIME, []any{0, "&"}},
		{"personality of a 32-bit machine", unix.SYS_PERSONALITY, []any{8}},
		{"personality without randomization", unix.SYS_PERSONALITY, []any{0x40000}},
		{"prlimit64 of process 1", unix.SYS_PRLIMIT64, []any{1, unix.RLIMIT_CPU, 0, "&"}},
		{"prlimit64 by its own id", unix.SYS_PRLIMIT64, []any{"pid", unix.RLIMIT_CPU, 0, "&"}},
		{"socketpair of TIPC", unix.SYS_SOCKETPAIR, []any{unix.AF_TIPC, unix.SOCK_STREAM, 0, "&"}},
		{"netlink uevents", unix.SYS_SOCKET, []any{unix.AF_NETLINK, unix.SOCK_RAW, uevents}},
		{"netlink netfilter", unix.SYS_SOCKET, []any{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}},
		{"netlink crypto", unix.SYS_SOCKET, []any{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_CRYPTO}},
		{"raw socket", unix.SYS_SOCKET, []any{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}},
		{"raw IPv6 socket", unix.SYS_SOCKET, []any{unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6}},
		{"SCTP", unix.SYS_SOCKET, []any{unix.AF_INET, unix.SOCK_STREAM, ipprotoSCTP}},
		{"MPTCP", unix.SYS_SOCKET, []any{unix.AF_INET6, unix.SOCK_STREAM, ipprotoMPTCP}},
		{"DCCP", unix.SYS_SOCKET, []any{unix.AF_INET, unix.SOCK_DCCP, ipprotoDCCP}},
	}
	for name, family := range map[string]int{
		"AF_VSOCK": unix.AF_VSOCK, "AF_ALG": unix.AF_ALG, "AF_PACKET": unix.AF_PACKET, "AF_TIPC": unix.AF_TIPC, "AF_RDS": unix.AF_RDS,
		"AF_CAN": unix.AF_CAN, "AF_KCM": unix.AF_KCM, "AF_XDP": unix.AF_XDP, "AF_QIPCRTR": unix.AF_QIPCRTR, "AF_SMC": unix.AF_SMC,
		"AF_BLUETOOTH": unix.AF_BLUETOOTH, "AF_NFC": unix.AF_NFC, "AF_KEY": unix.AF_KEY, "AF_RXRPC": unix.AF_RXRPC, "AF_PPPOX": unix.AF_PPPOX,
		"AF_X25": unix.AF_X25, "AF_LLC": unix.AF_LLC, "AF_PHONET": unix.AF_PHONET, "AF_IEEE802154": unix.AF_IEEE802154, "AF_AX25": unix.AF_AX25,
	} {
		calls = append(calls, systemCall{name, unix.SYS_SOCKET, []any{family, unix.SOCK_DGRAM, 0}})
	}
	return calls
}

// usualCalls are those of libraries, new ones above all, which must have the answer that they have under Docker's profile.
func usualCalls() []systemCall {
	return []systemCall{
		{"clone3", unix.SYS_CLONE3, []any{"&", 88}},
		{"faccessat2", unix.SYS_FACCESSAT2, []any{atFDCWD, "/tmp", 0, 0}},
		{"statx", unix.SYS_STATX, []any{atFDCWD, "/tmp", 0, 0x7ff, "&"}},
		{"rseq", unix.SYS_RSEQ, []any{0, 0, 0, 0}},
		{"close_range", unix.SYS_CLOSE_RANGE, []any{900, 1000, 0}},
		{"openat2", unix.SYS_OPENAT2, []any{atFDCWD, "/tmp", "&", 24}},
		{"pidfd_open", unix.SYS_PIDFD_OPEN, []any{"pid", 0}},
		{"pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, []any{-1, 0, 0, 0}},
		{"getrandom", unix.SYS_GETRANDOM, []any{"&", 16, 0}},
		{"memfd_create", unix.SYS_MEMFD_CREATE, []any{"x", 0}},
		{"epoll_pwait2", unix.SYS_EPOLL_PWAIT2, []any{-1, "&", 1, 0, 0, 8}},
		{"futex_waitv", unix.SYS_FUTEX_WAITV, []any{0, 0, 0, 0, 0}},
		{"membarrier", unix.SYS_MEMBARRIER, []any{0, 0, 0}},
		{"copy_file_range", unix.SYS_COPY_FILE_RANGE, []any{-1, 0, -1, 0, 1, 0}},
		{"fchmodat2", unix.SYS_FCHMODAT2, []any{atFDCWD, "/nothing", 0o600, 0}},
		{"cachestat", unix.SYS_CACHESTAT, []any{-1, "&", "&", 0}},
		{"mseal", unix.SYS_MSEAL, []any{0, 0, 0}},
		{"landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, []any{0, 0, 1}},
		{"prlimit64 of itself", unix.SYS_PRLIMIT64, []any{0, unix.RLIMIT_CPU, 0, "&"}},
		{"personality asked for", unix.SYS_PERSONALITY, []any{0xffffffff}},
		{"socketpair", unix.SYS_SOCKETPAIR, []any{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0, "&"}},
		{"AF_UNIX", unix.SYS_SOCKET, []any{unix.AF_UNIX, unix.SOCK_SEQPACKET, 0}},
		{"TCP", unix.SYS_SOCKET, []any{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP}},
		{"UDP", unix.SYS_SOCKET, []any{unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, 0}},
		{"netlink route", unix.SYS_SOCKET, []any{unix.AF_NETLINK, unix.SOCK_RAW | unix.SOCK_CLOEXEC, 0}},
		{"splice", unix.SYS_SPLICE, []any{-1, 0, -1, 0, 1, 0}},
		{"sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, []any{0, 0, "&"}},
		{"setpriority", unix.SYS_SETPRIORITY, []any{0, 0, 19}},
	}
}

func TestTheProfileRefusesEveryCallThatNoLanguageNeeds(t *testing.T) {
	t.Parallel()
	for name, answer := range makeCalls(t, setup(t), refusedCalls()) {
		require.Contains(t, []string{"EPERM", "ENOSYS"}, answer, name)
	}
}

func TestTheProfileAnswersTheCallsOfLibrariesAsDockersDoes(t *testing.T) {
	t.Parallel()
	own := makeCalls(t, setup(t), usualCalls())
	newest, err := json.Marshal(seccomp.DefaultProfile()) // a daemon's own is as old as the daemon
	require.NoError(t, err)
	dockers := makeCalls(t, setup(t, func(o *Options) { o.Seccomp = string(newest) }), usualCalls())
	require.Equal(t, dockers, own)
	for _, name := range []string{
		"faccessat2", "statx", "close_range", "openat2", "pidfd_open", "getrandom", "memfd_create", "prlimit64 of itself", "personality asked for",
		"socketpair", "AF_UNIX", "TCP", "UDP", "netlink route",
	} {
		require.Equal(t, "ok", own[name], name)
	}
	require.Equal(t, "ENOSYS", own["clone3"], "threads are made with clone then")
}

// Docker's profile lets these through, so that the two can be told apart.
func TestTheProfileIsNotDockers(t *testing.T) {
	t.Parallel()
	calls := []systemCall{
		{"ptrace", unix.SYS_PTRACE, []any{0, 0, 0, 0}},
		{"prlimit64", unix.SYS_PRLIMIT64, []any{"pid", unix.RLIMIT_CPU, 0, "&"}},
		{"personality", unix.SYS_PERSONALITY, []any{8}},
	}
	require.Equal(t, map[string]string{"ptrace": "ok", "prlimit64": "ok", "personality": "ok"}, makeCalls(t, setup(t, dockersProfile), calls))
	require.Equal(t, map[string]string{"ptrace": "EPERM", "prlimit64": "EPERM", "personality": "EPERM"}, makeCalls(t, setup(t), calls))
}

func TestA32BitCallEndsTheProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the program is in the assembler of x86-64")
	}
	program := sandbox.Program{Language: "c", Source: []byte(strings.Join([]string{
		"#include <stdio.h>",
		"int main(void) {",
		"	long id;",
		`	__asm__ volatile("int $0x80" : "=a"(id) : "a"(20) : "memory");`, // getpid of i386
		`	printf("%ld\n", id);`,
		"}", "",
	}, "\n"))}
	dockers, own := setup(t, dockersProfile).run(t, program), setup(t).run(t, program)
	require.Equal(t, sandbox.OutcomeSignaled, own.Outcome, own.Message)
	require.Empty(t, own.Stdout.Data)
	if !testenv.Calls32(t) { // the kernel ends it, whatever the profile
		require.Equal(t, "SIGSEGV", dockers.Signal)
		require.Equal(t, "SIGSEGV", own.Signal)
		return
	}
	require.Equal(t, sandbox.OutcomeOK, dockers.Outcome, dockers.Message)
	require.Equal(t, "SIGSYS", own.Signal)
}
