package supervisor_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

// BenchmarkReady reports the time from the start of sandbox-init as process 1 of a new namespace to its first frame,
// and what is resident then.
func BenchmarkReady(b *testing.B) {
	initPath := testenv.InitPath(b)
	var times []time.Duration
	var resident int
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), initPath, "--deadline", "1m")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWUSER}
		stdin, err := cmd.StdinPipe()
		require.NoError(b, err)
		stdout, err := cmd.StdoutPipe()
		require.NoError(b, err)
		begun := time.Now()
		require.NoError(b, cmd.Start())
		kind, _, err := wire.NewReader(stdout).Read()
		times = append(times, time.Since(begun))
		require.NoError(b, err)
		require.Equal(b, wire.TypeReady, kind)
		resident = max(resident, residentKiB(b, cmd.Process.Pid))
		require.NoError(b, stdin.Close())
		_ = cmd.Wait() // its code tells that stdin ended
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(resident)/1024, "resident-MiB")
}

func residentKiB(b *testing.B, pid int) (kib int) {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	require.True(b, found)
	_, err = fmt.Sscan(rest, &kib)
	require.NoError(b, err)
	return kib
}
