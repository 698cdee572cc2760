package docker

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestCaseOutOfMemoryIsTheKernelsWord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, python("print('start', flush=True)", "x = bytearray(400 << 20)"))
	require.Equal(t, sandbox.OutcomeOutOfMemory, got.Outcome)
	require.Equal(t, "SIGKILL", got.Signal)
	require.Equal(t, 137, got.ExitCode)
	require.Equal(t, "start\n", string(got.Stdout.Data))
	require.Contains(t, got.Message, "256 MiB")

	got = b.run(t, python(
		"import subprocess, sys",
		"child = subprocess.run([sys.executable, '-c', 'x = bytearray(400 << 20)'])",
		"print(child.returncode)",
	))
	require.Equal(t, sandbox.OutcomeOutOfMemory, got.Outcome, "a child counts too")
	require.Equal(t, "-9\n", string(got.Stdout.Data))
	require.Equal(t, 0, got.ExitCode)
}

func TestCaseOwnExitCodesAndKillsAreNotOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, bash("exit 137"))
	require.Equal(t, sandbox.OutcomeNonzeroExit, got.Outcome)
	require.Equal(t, 137, got.ExitCode)
	require.Empty(t, got.Signal)

	got = b.run(t, bash("kill -9 $$"))
	require.Equal(t, sandbox.OutcomeSignaled, got.Outcome)
	require.Equal(t, "SIGKILL", got.Signal)
	require.Equal(t, 137, got.ExitCode)

	got = b.run(t, bash("kill -SEGV $$"))
	require.Equal(t, "SIGSEGV", got.Signal)
	require.Equal(t, 139, got.ExitCode)

	p := bash("sleep 60")
	p.Limits.WallTime = wall(300 * time.Millisecond)
	got = b.run(t, p)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome)
	require.Equal(t, -1, got.ExitCode)
	require.True(t, got.TimedOut)
	require.Empty(t, got.Signal)
}

func TestCaseForkBombIsContained(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash(":(){ :|:& };:", "sleep 60")
	p.Limits.WallTime = wall(testenv.Scale(t, 2*time.Second)) // so long that the limit is reached
	begun := time.Now()
	got := b.run(t, p)
	require.Contains(t, []sandbox.Outcome{sandbox.OutcomeWallTimeout, sandbox.OutcomePIDsLimit, sandbox.OutcomeCPUTimeout}, got.Outcome)
	require.Positive(t, got.PIDsDenied)
	require.Less(t, time.Since(begun), testenv.Scale(t, 15*time.Second))
	got = b.run(t, bash("echo fine"))
	require.Equal(t, "fine\n", string(got.Stdout.Data))
}

func TestCasePIDsLimitIsExact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python(
		"import os, time",
		"n = 1", // this process
		"try:",
		"    while True:",
		"        if os.fork() == 0: time.sleep(60)",
		"        n += 1",
		"except BlockingIOError: print(n)",
	)
	got := b.run(t, p)
	require.Equal(t, "64\n", string(got.Stdout.Data))
	require.Equal(t, sandbox.OutcomePIDsLimit, got.Outcome)
	require.Contains(t, got.Message, "64")
}

func TestCaseTimeoutIsOnTime(t *testing.T) {
	b := setup(t, pooled(1)) // not parallel: it measures time
	require.NoError(t, b.Warm(t.Context()))
	p := bash("trap '' TERM INT HUP", "(trap '' TERM; setsid sleep 60 &)", "sleep 5")
	p.Limits.WallTime = wall(2 * time.Second)
	begun := time.Now()
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome)
	require.GreaterOrEqual(t, time.Since(begun), 2*time.Second)
	require.Less(t, time.Since(begun), 2*time.Second+testenv.Scale(t, 500*time.Millisecond))
	require.InDelta(t, 2, got.Duration.Duration().Seconds(), testenv.Scale(t, 250*time.Millisecond).Seconds())
}

func TestCaseCPUTimeIsOfTheWholeTree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("for i in 1 2 3; do (while :; do :; done) & done", "wait")
	p.Limits.CPUTime, p.Limits.CPUs = wall(time.Second), ptr(2.0)
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeCPUTimeout, got.Outcome)
	require.Equal(t, -1, got.ExitCode)
	require.True(t, got.TimedOut)
	used := (got.CPUUser + got.CPUSystem).Duration()
	require.Greater(t, used, 950*time.Millisecond)
	require.Less(t, used, time.Second+testenv.Scale(t, 500*time.Millisecond))
}

func TestCaseDiskFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("head -c 3000000 /dev/zero > /workspace/big")
	p.Limits.Workspace = ptr(2 * sandbox.MiB)
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeDiskFull, got.Outcome)
	require.Contains(t, got.Message, "/workspace was full: the limit is 2 MiB")
}

func TestCaseLimitsThatMeanForEverAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, set := range map[string]func(*sandbox.Overrides){
		"wall_seconds":     func(o *sandbox.Overrides) { o.WallTime = wall(0) },
		"cpu_seconds":      func(o *sandbox.Overrides) { o.CPUTime = wall(-1) },
		"cpus":             func(o *sandbox.Overrides) { o.CPUs = ptr(math.NaN()) },
		"memory_bytes":     func(o *sandbox.Overrides) { o.Memory = ptr(int64(math.MaxInt64)) },
		"pids":             func(o *sandbox.Overrides) { o.PIDs = ptr(0) },
		"output_bytes":     func(o *sandbox.Overrides) { o.Output = ptr(int64(-5)) },
		"workspace_bytes":  func(o *sandbox.Overrides) { o.Workspace = ptr(int64(0)) },
		"compile_seconds":  func(o *sandbox.Overrides) { o.CompileTime = wall(1000 * time.Hour) },
		"open_files":       func(o *sandbox.Overrides) { o.OpenFiles = ptr(int64(1 << 40)) },
		"limits.tmp_bytes": func(o *sandbox.Overrides) { o.Tmp = ptr(int64(-1)) },
	} {
		p := bash("echo no")
		set(&p.Limits)
		got := b.run(t, p)
		require.Equal(t, sandbox.OutcomeRejected, got.Outcome, name)
		require.Contains(t, got.Message, name)
		require.Equal(t, -1, got.ExitCode)
		require.Empty(t, got.Stdout.Data)
	}
	require.Zero(t, b.Stats().ColdStarts, "nothing was started")
}

// readBack prints what the kernel enforces on the program itself, with version 1 or 2 of cgroups.
const readBack = `
import os, resource
def read(*names):
    for name in names:
        try: return open('/sys/fs/cgroup/' + name).read().split()
        except OSError: pass
cpu = read('cpu.max') or read('cpu/cpu.cfs_quota_us', 'cpu,cpuacct/cpu.cfs_quota_us') + read('cpu/cpu.cfs_period_us', 'cpu,cpuacct/cpu.cfs_period_us')
size = lambda path: (lambda fs: fs.f_blocks * fs.f_frsize)(os.statvfs(path))
print('memory', read('memory.max', 'memory/memory.limit_in_bytes')[0])
print('cpus', int(cpu[0]) / int(cpu[1]))
print('pids', int(read('pids.max', 'pids/pids.max')[0]) - 16)
print('tmp', size('/tmp'), oct(os.stat('/tmp').st_mode)[-4:])
print('workspace', size('/workspace'))
print('files', resource.getrlimit(resource.RLIMIT_NOFILE))
print('core', resource.getrlimit(resource.RLIMIT_CORE))
print('ids', os.getresuid(), os.getresgid(), set(os.getgroups()) - {65534})
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
print('caps', status['CapBnd'].strip(), status['CapEff'].strip(), 'nnp', status['NoNewPrivs'].strip(), 'seccomp', status['Seccomp'].strip())
print('threads', os.environ['OMP_NUM_THREADS'])
`

func TestCaseDefaultLimitsReadBackFromInside(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, python(readBack))
	require.Equal(t, strings.Join([]string{
		"memory 268435456", "cpus 0.5", "pids 64", "tmp 67108864 1777", "workspace 134217728",
		"files (1024, 1024)", "core (0, 0)", "ids (65534, 65534, 65534) (65534, 65534, 65534) set()",
		"caps 0000000000000000 0000000000000000 nnp 1 seccomp 2", "threads 1", "",
	}, "\n"), string(got.Stdout.Data), "%s", got.Stderr.Data)
	view := got.Enforcement.KernelView
	require.EqualValues(t, 268435456, view.MemoryBytes)
	require.Zero(t, view.SwapBytes)
	require.InDelta(t, 0.5, view.CPUs, 1e-9)
	require.Equal(t, 64, view.PIDs)
	require.True(t, view.RootReadOnly)
	require.Empty(t, view.Interfaces)
	require.Regexp(t, "^sha256:[0-9a-f]{64}$", got.Enforcement.ImageID)
	require.NotEmpty(t, got.Enforcement.Runtime)
}

func TestCaseOverriddenLimitsReadBackFromInside(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python(readBack)
	p.Limits = sandbox.Overrides{
		Memory: ptr(100 * sandbox.MiB), CPUs: ptr(1.25), PIDs: ptr(7), Tmp: ptr(5 * sandbox.MiB),
		Workspace: ptr(6 * sandbox.MiB), OpenFiles: ptr(int64(99)),
	}
	got := b.run(t, p)
	require.Equal(t, strings.Join([]string{
		"memory 104857600", "cpus 1.25", "pids 7", "tmp 5242880 1777", "workspace 6291456",
		"files (99, 99)", "core (0, 0)", "ids (65534, 65534, 65534) (65534, 65534, 65534) set()",
		"caps 0000000000000000 0000000000000000 nnp 1 seccomp 2", "threads 2", "",
	}, "\n"), string(got.Stdout.Data), "%s", got.Stderr.Data)
}

func TestCaseLowestAndHighestLimits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := bash("echo ok")
	p.Limits = sandbox.Overrides{
		Memory: ptr(32 * sandbox.MiB), CPUs: ptr(0.05), PIDs: ptr(1), OpenFiles: ptr(int64(16)),
		Tmp: ptr(4 * sandbox.KiB), Workspace: ptr(8 * sandbox.KiB), Output: ptr(int64(1)),
	}
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, got.Message)
	require.EqualValues(t, 3, got.Stdout.Total)

	most := sandbox.DefaultMaxima()
	p.Limits = sandbox.Overrides{
		Memory: &most.Memory, CPUs: &most.CPUs, PIDs: &most.PIDs, OpenFiles: ptr(int64(4096)), // no more than the daemon itself may have
		Tmp: &most.Tmp, Workspace: &most.Workspace, Output: &most.Output, WallTime: wall(most.WallTime), CPUTime: wall(most.CPUTime),
	}
	got = b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, got.Message)
	require.InDelta(t, 4, got.Enforcement.CPUs, 1e-9, "also where there are fewer processors")
}

func TestCaseManyThreadsFollowTheCPULimit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import os", "print(os.environ['OMP_NUM_THREADS'])")
	p.Limits.CPUs = ptr(1.5)
	require.Equal(t, "2\n", string(b.run(t, p).Stdout.Data))
}

func TestCaseNodeHeapErrorReachesStderr(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, sandbox.Program{Language: "node", Source: []byte("const a = []; for (;;) a.push(new Array(1000).fill(a.length));\n")})
	require.NotEqual(t, sandbox.OutcomeOutOfMemory, got.Outcome, "V8 must give up before the kernel kills it")
	require.Contains(t, string(got.Stderr.Data), "JavaScript heap out of memory")
	require.Equal(t, "SIGABRT", got.Signal)
}

func TestCaseEnvironmentHasNoSecrets(t *testing.T) {
	t.Setenv("SANDLOOP_TEST_SECRET", "hunter2-secret")
	b := setup(t)
	p := bash("cat /proc/1/environ 2>/dev/null | tr '\\0' '\\n'; env")
	p.Env = map[string]string{"MINE": "yes"}
	got := b.run(t, p)
	require.NotContains(t, string(got.Stdout.Data), "hunter2")
	require.Contains(t, string(got.Stdout.Data), "MINE=yes\n")
	for _, line := range strings.Fields(string(got.Stdout.Data)) {
		name, value, _ := strings.Cut(line, "=")
		if name != "PATH" && name != "HOME" && name != "LANG" && value != "" && len(value) > 3 {
			require.NotEqual(t, os.Getenv(name), value, "%s is the worker's", name)
		}
	}
}

func TestCaseNoNetwork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, python(
		"import os, socket",
		"print(sorted(l.split(':')[0].strip() for l in open('/proc/net/dev').readlines()[2:] if 'lo' in l))",
		"for family, address in ((socket.AF_INET, ('1.1.1.1', 53)), (socket.AF_INET, ('169.254.169.254', 80)), (socket.AF_INET, ('172.17.0.1', 80))):",
		"    s = socket.socket(family); s.settimeout(3)",
		"    try: s.connect(address); print('connected', address)",
		"    except OSError as e: print(e.errno)",
		"try: socket.getaddrinfo('example.com', 80); print('resolved')",
		"except OSError: print('no name')",
		"print(os.path.exists('/var/run/docker.sock'))",
		"server = socket.create_server(('127.0.0.1', 0)); socket.create_connection(server.getsockname()); print('loopback')",
	))
	require.Equal(t, "['lo']\n101\n101\n101\nno name\nFalse\nloopback\n", string(got.Stdout.Data), "%s", got.Stderr.Data)

	p := bash("echo no")
	p.Network = true
	require.Equal(t, sandbox.OutcomeRejected, b.run(t, p).Outcome)
}

func TestNetworkWhenTheOperatorAllowsIt(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.AllowNetwork = true })
	p := bash("cat /proc/net/dev")
	p.Network = true
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, got.Message)
	require.Contains(t, string(got.Stdout.Data), "eth0")
	require.Equal(t, []string{"eth0"}, got.Enforcement.Interfaces)
}

func TestCaseReadOnlyRoot(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, bash(
		"for dir in / /etc /usr /var /root /home /dev /proc /sys /.sandloop /run; do",
		"  touch $dir/x 2>/dev/null && echo wrote $dir", "done",
		"printf '#!/bin/sh\\necho ran\\n' > /tmp/p; cp /tmp/p /workspace/p; chmod +x /tmp/p /workspace/p",
		"/tmp/p 2>/dev/null || echo refused; /workspace/p",
		"cat /etc/shadow 2>/dev/null || echo unreadable",
	))
	require.Equal(t, "refused\nran\nunreadable\n", string(got.Stdout.Data))
}
