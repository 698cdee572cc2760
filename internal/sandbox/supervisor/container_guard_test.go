package supervisor_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestProgramCannotDelayItsEndByStarvingProcess1(t *testing.T) {
	t.Parallel()
	j := python(`
import ctypes, errno, os, resource
libc = ctypes.CDLL(None, use_errno=True)
IDLE, PARAM = os.SCHED_IDLE, os.sched_param(0)
def attempt(name, call, *args):
    try: print(name, call(*args), flush=True)
    except OSError as e: print(name, errno.errorcode[e.errno], flush=True)
def raw(number, *args):
    if libc.syscall(number, *args) < 0: raise OSError(ctypes.get_errno(), "")
tids = sorted(map(int, os.listdir("/proc/1/task")))
print("tids", len(tids))
for tid in (1, tids[-1]):
    attempt("scheduler", os.sched_setscheduler, tid, IDLE, PARAM)
    attempt("param", os.sched_setparam, tid, PARAM)
    attempt("affinity", os.sched_setaffinity, tid, {0})
    attempt("attr", raw, 314 if os.uname().machine == "x86_64" else 274, tid, ctypes.create_string_buffer(b"\x30\0\0\0\5", 48), 0)
    attempt("rlimit", resource.prlimit, tid, resource.RLIMIT_NOFILE, (3, 3))
    attempt("priority", os.setpriority, os.PRIO_PROCESS, tid, 19)
    attempt("ioprio", raw, 251 if os.uname().machine == "x86_64" else 30, 1, tid, 3 << 13)
attempt("group", os.setpriority, os.PRIO_PGRP, 1, 19)
attempt("user", os.setpriority, os.PRIO_USER, 0, 19)
attempt("user", os.setpriority, os.PRIO_USER, 65534, 19)
attempt("iouser", raw, 251 if os.uname().machine == "x86_64" else 30, 3, 65534, 3 << 13)
for me in (0, os.getpid()):
    attempt("own", os.sched_setscheduler, me, os.SCHED_BATCH, PARAM)
    attempt("own", os.sched_setaffinity, me, os.sched_getaffinity(0))
    attempt("own", os.setpriority, os.PRIO_PROCESS, me, 19)
    attempt("own", resource.prlimit, me, resource.RLIMIT_CORE, (0, 0))
attempt("own", os.setpriority, os.PRIO_PGRP, 0, 19)
for _ in range(50):
    if os.fork() == 0: break
while True: pass
`)
	j.step().WallTime = sandbox.Seconds(testenv.Scale(t, 3*time.Second)) // so long that the program gets to its end
	r := endedInTime(t, j)
	refused := "scheduler EPERM\nparam EPERM\naffinity EPERM\nattr EPERM\nrlimit EPERM\npriority EPERM\nioprio EPERM\n"
	own := "own None\nown None\nown None\nown (0, 0)\n"
	require.Equal(t, "tids 16\n"+refused+refused+"group EPERM\nuser EPERM\nuser EPERM\niouser EPERM\n"+own+own+"own None\n",
		string(r.stdout), "%s", r.stderr)
	require.Equal(t, wire.CauseWall, r.last().Cause)
}

func TestGuardHoldsForCallsOf32BitPrograms(t *testing.T) {
	t.Parallel()
	j := command("sh", "-c", "gcc -o program main.c && ./program").withFile("main.c", []byte(`
#include <stdio.h>
#ifdef __x86_64__
static long call(long number, long a, long b, long c) {
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
	return result;
}
int main(void) {
	long tid = call(224, 0, 0, 0); // gettid shows that such calls work
	printf("%d %ld %ld %ld\n", tid > 1, call(97, 0, 1, 19), call(97, 2, 0, 19), call(97, 0, 0, 19));
}
#else
int main(void) { puts("1 -1 -1 0"); }
#endif
`), false)
	r := run(t, j)
	if runtime.GOARCH == "amd64" && !testenv.Calls32(t) { // there is nothing to guard
		require.Empty(t, string(r.stdout))
		require.Contains(t, string(r.stderr), "Segmentation fault")
		return
	}
	require.Equal(t, "1 -1 -1 0\n", string(r.stdout), "%s", r.stderr)
}

func TestNothingCanBeMadeThatOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	r := run(t, python(`
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
keys = 248 if os.uname().machine == "x86_64" else 217
for number in keys, keys + 1, keys + 2, 425:
    result = libc.syscall(number, 1, ctypes.create_string_buffer(200), 0, 0, 0)
    print(result, errno.errorcode[ctypes.get_errno()])
`))
	require.Equal(t, "-1 EPERM\n-1 EPERM\n-1 EPERM\n-1 EPERM\n", string(r.stdout), "%s", r.stderr)
}

func TestJobHasTheUsualTimerSlackAndTheLowestPriority(t *testing.T) {
	t.Parallel()
	r := run(t, python(`
import ctypes, os
PR_GET_TIMERSLACK = 30
threads = [os.getpriority(os.PRIO_PROCESS, int(thread)) for thread in os.listdir("/proc/1/task")]
print(ctypes.CDLL(None).prctl(PR_GET_TIMERSLACK), os.nice(0), sorted(threads))
`))
	// One thread makes the processes, and they have its priority.
	require.Equal(t, "50000 19 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 19]\n", string(r.stdout), "%s", r.stderr)
}
