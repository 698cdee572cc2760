package supervisor_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestHundredMegabytesOnBothStreams(t *testing.T) {
	t.Parallel()
	// 100 MiB a stream, each beginning with "head\n" and ending with "tail\n". At the end the
	// program tells the resident size of process 1 through a file.
	j := python(`
import os, threading
def write(fd):
    block = b"x" * 65535 + b"\n"
    os.write(fd, b"head\n")
    for _ in range(1600): os.write(fd, block)
    os.write(fd, b"tail\n")
both = [threading.Thread(target=write, args=(fd,)) for fd in (1, 2)]
[t.start() for t in both]
[t.join() for t in both]
for line in open("/proc/1/status"):
    if line.startswith(("VmHWM", "VmRSS", "Threads")): open("status", "a").write(line)
`)
	j.Outputs = []string{"status"}
	r := run(t, j, "--cpus", "2")
	require.Contains(t, r.fault, "cpus") // the flag must match what is asked
	j.Expect.CPUs = 2
	r = run(t, j, "--cpus", "2")
	require.Empty(t, r.fault)
	const total = 1600*65536 + 10
	require.Equal(t, int64(total), r.last().StdoutTotal)
	require.Equal(t, int64(total), r.last().StderrTotal)
	for _, stream := range [][]byte{r.stdout, r.stderr} {
		require.Len(t, stream, 65536)
		require.True(t, bytes.HasPrefix(stream, []byte("head\nxxx")))
		require.True(t, bytes.HasSuffix(stream, []byte("xxx\ntail\n")))
	}
	require.Equal(t, 32768, r.headOut)
	require.Zero(t, r.last().ExitCode)
	status := string(r.files["status"])
	t.Logf("process 1 after 200 MiB in %s (%s user, %s system): %s", r.last().Duration, r.last().CPUUser, r.last().CPUSystem,
		strings.Join(strings.Fields(status), " "))
	require.Less(t, statusNumber(t, status, "VmHWM:"), 10_000, "kB resident at most")
	require.Equal(t, wire.HeadroomPIDs, statusNumber(t, status, "Threads:"))
}

func statusNumber(t *testing.T, status, key string) int {
	t.Helper()
	for line := range strings.Lines(status) {
		fields := strings.Fields(line)
		if fields[0] == key {
			number, err := strconv.Atoi(fields[1])
			require.NoError(t, err)
			return number
		}
	}
	require.Fail(t, "missing", "%s in %s", key, status)
	return 0
}

func TestJustOverTheCap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, kept string
		live       int
	}{
		"below":    {"12345678", "12345678", 5},
		"at":       {"123456789", "123456789", 5},
		"over":     {"123456789a", "12345789a", 5}, // without the 6
		"far over": {"12345" + strings.Repeat("x", 100000) + "6789", "123456789", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := command("cat")
			j.step().Output = 9
			j.stdin = []byte(test.text)
			r := run(t, j)
			require.Equal(t, test.kept, string(r.stdout))
			require.Equal(t, test.live, r.headOut)
			require.Equal(t, int64(len(test.text)), r.last().StdoutTotal)
			require.Zero(t, r.last().ExitCode)
			require.Empty(t, r.last().Cause)
		})
	}
}

func TestOutputKillEndsAStep(t *testing.T) {
	t.Parallel()
	j := command("cat", "/dev/zero")
	j.step().OutputKill = 1 << 20
	r := run(t, j)
	require.Equal(t, wire.CauseOutput, r.last().Cause)
	require.Greater(t, r.last().StdoutTotal, int64(1<<20))
	require.Len(t, r.stdout, 65536)
}

func TestOutputKillCountsWhatAnEndedProgramWrote(t *testing.T) {
	t.Parallel()
	j := command("echo", "12345")
	j.step().OutputKill = 5 // echo writes 6 bytes
	require.Equal(t, wire.CauseOutput, run(t, j).last().Cause)
	j.step().OutputKill = 6
	require.Empty(t, run(t, j).last().Cause)
}

func TestOutputComesLive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.submit(t, command("sh", "-c", "echo first; sleep 60"))
	r := b.receive(t, func(kind wire.Type, payload []byte) {
		if kind == wire.TypeOutput && string(payload[1:]) == "first\n" {
			b.cancel(t) // the step has not ended
		}
	})
	require.Equal(t, wire.CauseCanceled, r.last().Cause)
}

func TestSlowReceiverDelaysNeitherTheLimitNorTheProgram(t *testing.T) {
	t.Parallel()
	j := python(`
import sys, time
started = time.monotonic()
for _ in range(64): sys.stdout.buffer.write(b"x" * (1 << 20))
sys.stdout.flush()
print(time.monotonic() - started, file=sys.stderr, flush=True)
time.sleep(3600)
`)
	j.step().Output = 8 * sandbox.MiB
	wall := testenv.Scale(t, 3*time.Second)
	j.step().WallTime = sandbox.Seconds(wall)
	b := newBox(t)
	b.submit(t, j)
	kind, _, err := b.frames.Read()
	require.NoError(t, err)
	require.Equal(t, wire.TypeStart, kind)
	timer := time.NewTimer(wall + 3*time.Second) // nobody reads until past the limit
	<-timer.C
	r := b.receive(t, nil)
	require.Equal(t, wire.CauseWall, r.last().Cause)
	require.Less(t, r.last().Duration.Duration(), wall+testenv.Scale(t, 2*time.Second))
	require.Equal(t, int64(64<<20), r.last().StdoutTotal)
	require.Len(t, r.stdout, 8<<20)
	took, err := strconv.ParseFloat(strings.TrimSpace(string(r.stderr)), 64)
	require.NoError(t, err)
	require.Less(t, took, wall.Seconds())
}
