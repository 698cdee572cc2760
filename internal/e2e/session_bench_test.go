package e2e_test

import (
	"bufio"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
)

// BenchmarkLiveCall takes the time of `x += 1` in a live session from Submit to the result, through the queue and a
// worker process, and of the same in a bare interpreter that reads lines from a pipe.
func BenchmarkLiveCall(b *testing.B) {
	const warm, calls = 50, 500
	s := newSessions(b)
	s.startWorker(b)
	interactive := func(job *jobs.Job) { job.Queue = jobs.Interactive }
	s.call("x = 0", interactive)
	for b.Loop() {
		var queued []time.Duration
		for range warm + calls {
			begun := time.Now()
			s.call("x += 1", interactive)
			queued = append(queued, time.Since(begun))
		}
		p50, p99 := percentiles(queued[warm:])
		bare, _ := percentiles(bareCalls(b, calls))
		b.ReportMetric(inMillis(p50), "p50-ms")
		b.ReportMetric(inMillis(p99), "p99-ms")
		b.ReportMetric(inMillis(bare), "bare-p50-ms")
		b.ReportMetric(float64(p50)/float64(bare), "p50/bare")
	}
}

// bareCalls takes the time of as many lines in a Python interpreter of its own that is up.
func bareCalls(b *testing.B, count int) (times []time.Duration) {
	b.Helper()
	command := exec.CommandContext(b.Context(), "python3", "-c", `
import sys
names = {"x": 0}
for line in sys.stdin:
    exec(line, names)
    print(flush=True)
`)
	stdin, err := command.StdinPipe()
	require.NoError(b, err)
	stdout, err := command.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, command.Start())
	answers := bufio.NewReader(stdout)
	for range count {
		begun := time.Now()
		_, err := io.WriteString(stdin, "x += 1\n")
		require.NoError(b, err)
		_, err = answers.ReadString('\n')
		require.NoError(b, err)
		times = append(times, time.Since(begun))
	}
	require.NoError(b, stdin.Close())
	require.NoError(b, command.Wait())
	return times
}

// percentiles returns the median and the 99th percentile.
func percentiles(times []time.Duration) (p50, p99 time.Duration) {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2], sorted[len(sorted)*99/100]
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
