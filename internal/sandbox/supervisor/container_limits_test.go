package supervisor_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

// late is how long after its limit a step may be reported.
const late = 500 * time.Millisecond

func seconds(s float64) sandbox.Seconds { return sandbox.Seconds(s * float64(time.Second)) }

func TestWallTimeEndsAStep(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{
		"sleep":                     {"sleep", "60"},
		"ignores SIGTERM and more":  {"python3", "-c", "import signal,time\nfor s in range(1,65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\ntime.sleep(60)"},
		"stops everything":          {"python3", "-c", "import os,signal,subprocess\nsubprocess.Popen(['sleep','60'])\nos.kill(-1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)\nimport time; time.sleep(60)"},
		"daemons that fork twice":   {"python3", "-c", "import os,time\nfor i in range(20):\n  if os.fork()==0:\n    os.setsid()\n    if os.fork()==0:\n      time.sleep(60)\n    os._exit(0)\ntime.sleep(60)"},
		"traces its own processes":  {"python3", "-c", "import ctypes,os,time\nlibc=ctypes.CDLL(None)\npid=os.fork()\nif pid==0:\n  libc.ptrace(0,0,0,0); os.kill(os.getpid(),19); time.sleep(60)\ntime.sleep(60)"},
		"a loop that writes output": {"sh", "-c", "while true; do echo spam; done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := command(argv...)
			j.step().WallTime = seconds(1)
			r := endedInTime(t, j)
			require.Empty(t, r.fault)
			require.Equal(t, wire.CauseWall, r.last().Cause)
			require.Equal(t, -1, r.last().ExitCode)
			require.Equal(t, 9, r.last().Signal)
			require.GreaterOrEqual(t, r.last().Duration.Duration(), time.Second)
			require.Zero(t, r.last().OOMKills)
		})
	}
}

// endedInTime runs a job and requires that its report comes at most late after its wall time. On a
// machine that is busy with other things one of three tries has to do so.
func endedInTime(t *testing.T, j job) (r report) {
	t.Helper()
	const tries = 3
	var over time.Duration
	for range tries {
		b := newBox(t)
		b.submit(t, j)
		var started, ended time.Time
		r = b.receive(t, func(kind wire.Type, _ []byte) {
			switch kind {
			case wire.TypeStart:
				started = time.Now()
			case wire.TypeStep:
				ended = time.Now()
			}
		})
		b.requireGone(t, 20*time.Second)
		if over = ended.Sub(started) - j.step().WallTime.Duration(); over < testenv.Scale(t, late) {
			return r
		}
	}
	require.Fail(t, "reported too late", "%s after the limit", over)
	return r
}

func TestCPUTimeOfTheWholeTreeEndsAStep(t *testing.T) {
	t.Parallel()
	j := python(`
import os
for _ in range(3):
    if os.fork() == 0:
        break
while True: pass
`)
	j.step().CPUTime = sandbox.Seconds(testenv.Scale(t, 500*time.Millisecond)) // starting Python is a small part of it
	r := run(t, j)
	step := r.last()
	require.Equal(t, wire.CauseCPU, step.Cause)
	used := (step.CPUUser + step.CPUSystem).Duration()
	require.GreaterOrEqual(t, used, testenv.Scale(t, 500*time.Millisecond))
	require.Less(t, used, testenv.Scale(t, 650*time.Millisecond))
	// With half a processor, half a second of CPU time takes about a second.
	require.Less(t, step.Duration.Duration(), testenv.Scale(t, 10*time.Second))
	require.Greater(t, step.CPUUser, step.CPUSystem)
}

func TestSleepCostsNoCPUTime(t *testing.T) {
	t.Parallel()
	r := run(t, command("sleep", "1"))
	step := r.last()
	require.Empty(t, step.Cause)
	require.Less(t, (step.CPUUser + step.CPUSystem).Duration(), testenv.Scale(t, 50*time.Millisecond))
	require.GreaterOrEqual(t, step.Duration.Duration(), time.Second)
	require.Less(t, step.Duration.Duration(), testenv.Scale(t, 2*time.Second))
}

func TestOutOfMemoryOfAChildIsCounted(t *testing.T) {
	t.Parallel()
	r := run(t, python(`
import subprocess, sys
child = subprocess.run([sys.executable, "-c", "x = bytearray(400 << 20)"])
print(child.returncode)
`))
	require.Equal(t, "-9\n", string(r.stdout))
	step := r.last()
	require.Zero(t, step.ExitCode)
	require.Empty(t, step.Cause)
	require.Equal(t, int64(1), step.OOMKills)
	require.Greater(t, step.PeakMemory, 200*sandbox.MiB)
	require.LessOrEqual(t, step.PeakMemory, 256*sandbox.MiB)
}

func TestOutOfMemoryOfTheMainProcess(t *testing.T) {
	t.Parallel()
	r := run(t, python(`x = bytearray(400 << 20)`))
	step := r.last()
	require.Equal(t, -1, step.ExitCode)
	require.Equal(t, 9, step.Signal)
	require.Empty(t, step.Cause)
	require.Equal(t, int64(1), step.OOMKills)
}

func TestExit137IsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	r := run(t, command("sh", "-c", "exit 137"))
	step := r.last()
	require.Equal(t, 137, step.ExitCode)
	require.Zero(t, step.Signal)
	require.Empty(t, step.Cause)
	require.Zero(t, step.OOMKills)
}

func TestSignalOfTheProgramIsNamed(t *testing.T) {
	t.Parallel()
	r := run(t, python(`import os; os.kill(os.getpid(), 11)`))
	require.Equal(t, 11, r.last().Signal)
	require.Equal(t, -1, r.last().ExitCode)
}

func TestExactlySoManyProcessesAsAsked(t *testing.T) {
	t.Parallel()
	r := run(t, python(`
import os, time
made = 1
while True:
    try:
        if os.fork() == 0:
            time.sleep(60)
        made += 1
    except BlockingIOError:
        break
print(made)
`))
	require.Equal(t, "64\n", string(r.stdout))
	require.Equal(t, int64(1), r.last().PIDsDenied)
	require.Zero(t, r.last().ExitCode)
}

func TestCancelEndsAStep(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.submit(t, command("sh", "-c", "echo begun; sleep 60"))
	r := b.receive(t, func(kind wire.Type, _ []byte) {
		if kind == wire.TypeOutput {
			b.cancel(t)
		}
	})
	require.Equal(t, wire.CauseCanceled, r.last().Cause)
	require.Equal(t, "begun\n", string(r.stdout))
	require.Less(t, r.last().Duration.Duration(), testenv.Scale(t, 10*time.Second))
}

func TestFullFileSystemIsNamed(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/tmp", "/workspace"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			r := run(t, command("sh", "-c", "cat /dev/zero > "+dir+"/big"))
			require.Equal(t, 1, r.last().ExitCode)
			require.Equal(t, dir, r.last().DiskFull)
			require.Contains(t, string(r.stderr), "No space left")
		})
	}
}

func TestStepsEndAtTheFirstThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		compile string
		steps   int
	}{
		"compile fails":    {"echo broken >&2; exit 1", 1},
		"compile succeeds": {"echo '#!/bin/sh\necho built' > prog; chmod 755 prog", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := command("./prog")
			compile := *j.step()
			compile.Name, compile.Argv, compile.Stdin = "compile", []string{"sh", "-c", test.compile}, false
			j.Steps = []wire.Step{compile, *j.step()}
			r := run(t, j)
			require.Len(t, r.steps, test.steps)
			require.Equal(t, "compile", r.steps[0].Name)
			if test.steps == 2 {
				require.Equal(t, "built\n", string(r.stdout))
			}
		})
	}
}

func TestMissingProgramIsAStartError(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{
		"not on PATH":    {"no-such-program"},
		"not there":      {"./prog"},
		"not executable": {"/etc/passwd"},
		"no interpreter": {"./script"},
		"a directory":    {"/tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := command(argv...).withFile("script", []byte("#!/no/such/interpreter\n"), true)
			r := run(t, j)
			require.Empty(t, r.fault)
			require.Contains(t, r.last().StartError, argv[0])
			require.Equal(t, -1, r.last().ExitCode)
		})
	}
}

func TestLowestLimitsStillRunAProgram(t *testing.T) {
	t.Parallel()
	j := command("sh", "-c", "read line; echo $line > file; read line < file; echo $line; echo err >&2")
	j.stdin = []byte("in\n")
	j.Outputs = []string{"file"}
	j.Expect.MemoryBytes, j.Expect.OpenFiles, j.Expect.PIDs = 32*sandbox.MiB, 16, 1
	j.step().Output = 1
	r := run(t, j, "--memory", "32m", "--memory-swap", "32m", "--ulimit", "nofile=16:16", "--pids-limit", strconv.Itoa(1+wire.HeadroomPIDs))
	require.Empty(t, r.fault)
	require.Zero(t, r.last().ExitCode)
	require.Zero(t, r.last().OOMKills)
	require.Equal(t, "i", string(r.stdout))
	require.Equal(t, "e", string(r.stderr))
	require.Equal(t, "in\n", string(r.files["file"]))
}
