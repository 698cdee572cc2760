package docker

import (
	"bytes"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

// benchCode is the program of the comparison: it costs little beside the start of an interpreter.
const benchCode = "print(6*7)"

// BenchmarkRun runs one small program in four ways in turn, so that whatever else the machine does
// meets all alike, and reports medians and their ratios:
//
//	bare    python3 as a plain process in the unpacked image, without any sandbox
//	warm    Run with a container from the pool, until the result is there
//	cold    Run without a pool, until the container is gone
//	docker  docker run --rm with the same flags on the command line
func BenchmarkRun(b *testing.B) {
	image := testenv.Image(b)
	program := sandbox.Program{Language: "python", Source: []byte(benchCode)}
	warm, cold := setup(b, pooled(1)), setup(b)
	root := unpack(b, image)
	times := map[string][]time.Duration{}
	measure := func(name string, run func() string) {
		begun := time.Now()
		got := run()
		times[name] = append(times[name], time.Since(begun))
		require.Equal(b, "42\n", got, name)
	}
	for b.Loop() {
		measure("bare", func() string { return bare(b, root) })
		require.NoError(b, warm.Warm(b.Context()))
		settle(b, warm, 1)
		measure("warm", func() string { return string(warm.run(b, program).Stdout.Data) })
		settle(b, warm, 1)
		measure("cold", func() string {
			result := cold.run(b, program)
			settle(b, cold, 0)
			return string(result.Stdout.Data)
		})
		measure("docker", func() string { return dockerRun(b, image) })
	}
	median := map[string]float64{}
	for name, all := range times {
		slices.Sort(all)
		median[name] = float64(all[len(all)/2].Microseconds()) / 1000
		b.ReportMetric(median[name], name+"-ms")
	}
	b.ReportMetric(0, "ns/op") // the sum of four different things says nothing
	b.ReportMetric(median["warm"]/median["bare"], "warm/bare")
	b.ReportMetric(median["cold"]/median["bare"], "cold/bare")
	b.ReportMetric(median["docker"]/median["cold"], "docker/cold")
	b.ReportMetric(median["warm"]-1.5*median["bare"], "warm-1.5bare-ms")
}

// settle waits until so many containers are open: the pool is full and nothing is being removed.
func settle(b *testing.B, bundle *bundle, open int64) {
	b.Helper()
	require.Eventually(b, func() bool {
		stats := bundle.Stats()
		return stats.Open == open && stats.Warm == open
	}, time.Minute, time.Millisecond)
}

// unpack makes a directory with the image's files.
func unpack(b *testing.B, image string) string {
	b.Helper()
	root := b.TempDir()
	id := dockerCLI(b, "create", image, "true")
	defer dockerCLI(b, "rm", id)
	out, err := exec.CommandContext(b.Context(), "sh", "-c", `docker export "$0" | tar -xC "$1"`, id, root).CombinedOutput()
	require.NoError(b, err, string(out))
	return root
}

func bare(b *testing.B, root string) string {
	b.Helper()
	return bareArgv(b, root, "/usr/bin/python3", "-c", benchCode)
}

func bareArgv(b *testing.B, root string, argv ...string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, string(out))
	return string(out)
}

func dockerRun(b *testing.B, image string) string {
	b.Helper()
	limits := sandbox.DefaultLimits()
	memory, number := strconv.FormatInt(limits.Memory, 10), strconv.Itoa
	return dockerCLI(b, "run", "--rm", "-i", "--network", "none", "--read-only",
		"--tmpfs", "/tmp:"+tmpfs("noexec", limits.Tmp), "--tmpfs", "/workspace:"+tmpfs("exec", limits.Workspace),
		"--memory", memory, "--memory-swap", memory, "--cpus", strconv.FormatFloat(limits.CPUs, 'f', -1, 64),
		"--pids-limit", number(limits.PIDs+wire.HeadroomPIDs), "--user", uidGID, "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--ulimit", "core=0", "--ulimit", "nofile=1024:1024",
		"--ipc", "private", "--shm-size", strconv.FormatInt(shmSize, 10), "--log-driver", "none", "--hostname", "sandbox",
		"-w", "/workspace", image, "python3", "-c", benchCode) + "\n"
}

// dockerCLI runs the docker command and returns what it printed, without white space around it.
func dockerCLI(b *testing.B, args ...string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "docker", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(b, err, stderr.String())
	return string(bytes.TrimSpace(out))
}
