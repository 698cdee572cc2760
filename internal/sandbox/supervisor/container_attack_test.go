package supervisor_test

import (
	"os/exec"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestForkBombIsContainedAndEnded(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{
		"processes":      {"bash", "-c", ":(){ :|:& };:; sleep 60"},
		"new sessions":   {"python3", "-c", "import os\nwhile True:\n  try:\n    if os.fork()==0: os.setsid()\n  except OSError: pass"},
		"threads":        {"python3", "-c", "import threading,time\nwhile True:\n  try: threading.Thread(target=time.sleep,args=(60,)).start()\n  except RuntimeError: pass"},
		"exits at once":  {"python3", "-c", "import os\nwhile True:\n  try:\n    if os.fork(): os._exit(0)\n  except OSError: pass"},
		"with much text": {"bash", "-c", "f(){ echo spam; f & f & }; f; sleep 60"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := command(argv...)
			j.step().WallTime = sandbox.Seconds(testenv.Scale(t, 2*time.Second)) // so long that the limit is reached
			r := endedInTime(t, j)
			require.Empty(t, r.fault)
			if name != "exits at once" { // its main process ends, and with it the step
				require.Equal(t, wire.CauseWall, r.last().Cause)
				require.Positive(t, r.last().PIDsDenied)
			}
		})
	}
}

func TestBackgroundProcessDoesNotHoldTheStep(t *testing.T) {
	t.Parallel()
	r := run(t, command("sh", "-c", "sleep 600 & setsid sleep 600 & echo done"))
	require.Equal(t, "done\n", string(r.stdout))
	require.Zero(t, r.last().ExitCode)
	require.Empty(t, r.last().Cause)
	require.Less(t, r.last().Duration.Duration(), testenv.Scale(t, 5*time.Second))
}

func TestOrphansAreReaped(t *testing.T) {
	t.Parallel()
	// 300 orphans that end; were they not reaped, the limit of 64 would refuse some.
	r := run(t, python(`
import os, time
for _ in range(300):
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(pid, 0)
time.sleep(0.2)
print(len([p for p in os.listdir("/proc") if p.isdigit()]))
`))
	require.Equal(t, "2\n", string(r.stdout)) // process 1 and the program
	require.Zero(t, r.last().PIDsDenied)
}

func TestSignalsDoNotReachProcess1(t *testing.T) {
	t.Parallel()
	r := run(t, python(`
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
class Info(ctypes.Structure):
    _fields_ = [("signo", ctypes.c_int), ("errno", ctypes.c_int), ("code", ctypes.c_int), ("pad", ctypes.c_int * 29)]
refused = 0
for number in range(1, 65):
    for target in (1, -1) if number not in (9, 19) else (1,):
        if target == -1:
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        if target == 1:
            os.kill(1, number)
    for code in (-1, -2, -6):  # SI_QUEUE, SI_TIMER, SI_TKILL: claims that kill cannot make
        info = Info(number, 0, code)
        if libc.syscall(129, 1, number, ctypes.byref(info)) != 0:
            refused += 1
        for thread in range(1, 17):
            libc.syscall(297, 1, thread, number, ctypes.byref(info))
            libc.syscall(234, 1, thread, number)
print("alive")
`))
	require.Equal(t, "alive\n", string(r.stdout), "%s", r.stderr)
	require.Zero(t, r.last().ExitCode)
}

func TestProcess1CannotBeOpenedTracedOrForged(t *testing.T) {
	t.Parallel()
	r := run(t, python(`
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name in ("mem", "environ", "fd/0", "fd/1", "fd", "maps", "auxv", "cwd", "root", "exe", "task/1/mem"):
    try:
        path = "/proc/1/" + name
        if name == "fd": os.listdir(path)
        elif name in ("cwd", "root", "exe"): os.readlink(path)
        else: os.open(path, os.O_WRONLY if name in ("mem", "fd/1") else os.O_RDONLY)
        print(name, "OPEN")
    except OSError as e:
        print(name, e.errno)
print("ptrace", libc.ptrace(16, 1, 0, 0), ctypes.get_errno())
pidfd = libc.syscall(434, 1, 0)
print("pidfd_getfd", libc.syscall(438, pidfd, 1, 0), ctypes.get_errno())
`))
	lines := strings.Split(strings.TrimSpace(string(r.stdout)), "\n")
	require.Equal(t, []string{
		"mem 13", "environ 13", "fd/0 13", "fd/1 13", "fd 13", "maps 13", "auxv 13", "cwd 13", "root 13", "exe 13", "task/1/mem 13",
		"ptrace -1 1", "pidfd_getfd -1 1",
	}, lines, "%s", r.stderr)
}

func TestChildStartsWithNothingButWhatIsPromised(t *testing.T) {
	t.Parallel()
	j := python(`
import os
print("fds", sorted(os.listdir("/proc/self/fd"), key=int)[:-1])
status = dict(line.rstrip("\n").split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
print("signals", status["SigBlk"], status["SigCgt"] != "", status["NoNewPrivs"], status["Seccomp"], status["CapBnd"])
print("session", os.getsid(0) == os.getpid())
print("cwd", os.getcwd())
print("scores", open("/proc/self/oom_score_adj").read().strip(), open("/proc/1/oom_score_adj").read().strip())
os.umask(0o22) == 0o22 and print("umask")
`)
	r := run(t, j)
	require.Equal(t, strings.Join([]string{
		"fds ['0', '1', '2']",
		"signals 0000000000000000 True 1 2 0000000000000000",
		"session True", "cwd /workspace", "scores 500 0", "umask", "",
	}, "\n"), string(r.stdout), "%s", r.stderr)
}

func TestChildIgnoresNoSignal(t *testing.T) {
	t.Parallel()
	r := run(t, command("grep", "SigIgn", "/proc/self/status"))
	require.Equal(t, "SigIgn:\t0000000000000000\n", string(r.stdout))
}

func TestEnvironmentIsExactlyTheImagesAndTheSteps(t *testing.T) {
	t.Parallel()
	j := command("env", "-0")
	j.step().Env = []string{"LANG=de_DE", "EMPTY=", "LINES=a\nb"}
	r := run(t, j, "-e", "FROM_IMAGE=yes", "-e", "EMPTY=no")
	got := strings.Split(strings.TrimSuffix(string(r.stdout), "\x00"), "\x00")
	sort.Strings(got)
	want := append(imageVariables(t), "FROM_IMAGE=yes", "LANG=de_DE", "EMPTY=", "LINES=a\nb", "HOME=/tmp")
	sort.Strings(want)
	require.Equal(t, want, got)
}

// imageVariables are the image's own, without those that the test sets again.
func imageVariables(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("docker", "image", "inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", testenv.Image(t)).Output() //nolint:noctx // docker bounds itself
	require.NoError(t, err)
	var env []string
	for _, pair := range strings.Fields(string(out)) {
		name, _, _ := strings.Cut(pair, "=")
		if name != "LANG" && name != "HOME" {
			env = append(env, pair)
		}
	}
	return env
}

func TestClosedStdinEndsTheContainerInTheMiddleOfAStep(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.submit(t, command("sh", "-c", "echo begun; sleep 100"))
	for {
		kind, _, err := b.frames.Read()
		require.NoError(t, err)
		if kind == wire.TypeOutput {
			break
		}
	}
	require.NoError(t, b.stdin.Close())
	b.requireGone(t, 5*time.Second)
	require.Equal(t, 3, exitCode(b.cmd.Wait()))
}

func TestClosedStdinEndsAnIdleContainer(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	require.NoError(t, b.stdin.Close())
	b.requireGone(t, 5*time.Second)
}

func TestDeadlineEndsTheContainer(t *testing.T) {
	t.Parallel()
	b := newBoxWith(t, []string{"--deadline", testenv.Scale(t, 2*time.Second).String()})
	b.submit(t, command("sleep", "100"))
	b.requireGone(t, 10*time.Second)
	require.Equal(t, 4, exitCode(b.cmd.Wait()))
}
