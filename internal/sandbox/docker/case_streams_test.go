package docker

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// Each test of this kind is named for a row of failures that other code runners had.

func TestCaseVeryShortProgramLosesNoOutput(t *testing.T) {
	t.Parallel()
	b := setup(t, pooled(3))
	programs := 500
	if testing.Short() || testenv.Scale(t, 1) > 1 { // 500 take more than 20 minutes where the processor is emulated
		programs = 50
	}
	numbers := make(chan int)
	var slots sync.WaitGroup
	for range 3 {
		slots.Go(func() {
			for n := range numbers {
				p := bash(fmt.Sprintf("echo %d; echo e%d >&2", n, n))
				p.ID, p.Attempt = fmt.Sprintf("%s-%d", b.installation, n), 1 // so that each container is renamed
				got, err := b.Run(t.Context(), p)
				if err != nil || string(got.Stdout.Data) != fmt.Sprintf("%d\n", n) || string(got.Stderr.Data) != fmt.Sprintf("e%d\n", n) || got.Outcome != "ok" {
					t.Errorf("program %d: %+v, %v", n, got, err)
				}
			}
		})
	}
	begun := time.Now()
	for n := range programs {
		numbers <- n
	}
	close(numbers)
	slots.Wait()
	t.Logf("%d programs in %s, %+v", programs, time.Since(begun), b.Stats())
}

func TestCaseStdinToEOF(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import sys", "data = sys.stdin.buffer.read()", "print(len(data), data[-3:])")
	p.Stdin = append(bytes.Repeat([]byte{0, 0xff}, 100_000), "end"...)
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, got.Message)
	require.Equal(t, "200003 b'end'\n", string(got.Stdout.Data))
}

func TestCaseNoStdinIsEOFAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, python("import sys", "print(repr(sys.stdin.read()))"))
	require.Equal(t, "''\n", string(got.Stdout.Data))
	require.Less(t, got.Duration.Duration(), testenv.Scale(t, 5*time.Second))
}

func TestCaseStdoutHeldOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begun := time.Now()
	got := b.run(t, bash("sleep 100 &", "setsid sleep 100 &", "echo done"))
	require.Equal(t, sandbox.OutcomeOK, got.Outcome)
	require.Equal(t, "done\n", string(got.Stdout.Data))
	require.Less(t, time.Since(begun), testenv.Scale(t, 15*time.Second))
}

func TestCaseZombies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.run(t, python(
		"import os, time",
		"for i in range(200):", // many more than the limit of 64, so each must be reaped
		"    pid = os.fork()",
		"    if pid == 0:",
		"        if os.fork() == 0: os._exit(0)", // an orphan, which falls to process 1
		"        os._exit(0)",
		"    os.waitpid(pid, 0)",
		"    time.sleep(0.002)",
		"print('all')",
	))
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "%s %s", got.Message, got.Stderr.Data)
	require.Equal(t, "all\n", string(got.Stdout.Data))
}

func TestCaseLargeOutputOnBothStreams(t *testing.T) {
	b := setup(t) // not parallel: it looks at the memory of the whole process
	const size = 100 << 20
	before := residentPeak(t)
	p := python(
		"import sys, threading",
		"def fill(stream, byte):",
		"    for i in range(100): stream.write(byte * (1 << 20))",
		"    stream.flush()",
		"threads = [threading.Thread(target=fill, args=a) for a in ((sys.stdout.buffer, b'o'), (sys.stderr.buffer, b'e'))]",
		"[t.start() for t in threads]; [t.join() for t in threads]",
	)
	p.Limits.CPUs = ptr(2.0)
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, got.Message)
	for stream, letter := range map[*sandbox.Stream]string{&got.Stdout: "o", &got.Stderr: "e"} {
		require.EqualValues(t, size, stream.Total)
		require.True(t, stream.Truncated)
		require.Equal(t, strings.Repeat(letter, 64<<10), string(stream.Data))
	}
	require.Less(t, residentPeak(t)-before, int64(16<<20), "the worker's memory does not grow with the output")
	require.Less(t, got.PeakMemory, int64(100<<20), "nor does that inside of the sandbox")
}

// residentPeak is the highest resident size that this process ever had.
func residentPeak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	require.True(t, found)
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	require.NoError(t, err)
	return kilobytes << 10
}

func TestCaseJustOverTheCap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import sys", "sys.stdout.write('a' * 500 + 'b' * 501)", "sys.exit(0)")
	p.Limits.Output = ptr(int64(1000))
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, "a run goes on past the cap")
	require.EqualValues(t, 1001, got.Stdout.Total)
	require.True(t, got.Stdout.Truncated)
	require.Len(t, got.Stdout.Data, 1000)
	require.Equal(t, strings.Repeat("a", 500)+strings.Repeat("b", 500), string(got.Stdout.Data))
	require.Equal(t, 500, got.Stdout.CutAt)

	p.Limits.OutputKill = ptr(int64(1000))
	p.Source = []byte("import sys, time\nsys.stdout.write('a' * 1001)\nsys.stdout.flush()\ntime.sleep(60)\n")
	got = b.run(t, p)
	require.Equal(t, sandbox.OutcomeOutputLimit, got.Outcome)
	require.Equal(t, -1, got.ExitCode)
	require.False(t, got.OK)
	require.Contains(t, got.Message, "1000 bytes")

	p.Source = []byte("print('a' * 998)\n") // 999 with the end of the line
	got = b.run(t, p)
	require.Equal(t, sandbox.OutcomeOK, got.Outcome)
	require.False(t, got.Stdout.Truncated)
}

func TestCaseBytesThatAreNotText(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import sys", "data = bytes(range(256)) * 4", "sys.stdout.buffer.write(data)", "sys.stderr.buffer.write('žluťoučký 你好 🐍'.encode())")
	got := b.run(t, p)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	require.Equal(t, bytes.Repeat(all, 4), []byte(got.Stdout.Data))
	require.Equal(t, "žluťoučký 你好 🐍", string(got.Stderr.Data))
}

func TestCasePartialOutputIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import time", "print('before', flush=True)", "time.sleep(60)")
	p.Limits.WallTime = wall(testenv.Scale(t, time.Second))
	var live []string
	p.OnOutput = func(o sandbox.Output) { live = append(live, fmt.Sprintf("%s %s %s", o.Step, o.Stream, o.Data)) }
	got := b.run(t, p)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome)
	require.Equal(t, "before\n", string(got.Stdout.Data))
	require.Equal(t, []string{"run stdout before\n"}, live)
}
