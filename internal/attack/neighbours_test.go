//go:build attack

package attack_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/attack"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// loud are the attacks that take most of what neighbours share: processes, memory, processors, file systems, pipes, the kernel's time.
var loud = []string{
	"fork bomb", "thread bomb", "heap", "kernel memory", "page cache", "many processes at once", "inodes", "flood of both streams", "storm of timers",
}

// blockJobs is how many jobs are timed in a row with the attack, and then without.
const blockJobs = 10

// neighbour is a well-behaved job of some ms of CPU time.
var neighbour = sandbox.Program{
	Language: "python", Source: sandbox.Bytes("print(sum(i * i for i in range(200_000)))\n"), Limits: sandbox.Overrides{CPUs: ptr(1.0)},
}

// times are those of a job: from the call to the result, and of its program alone, in milliseconds.
type times struct{ whole, program []float64 }

// BenchmarkNeighbours times a well-behaved job while an attack runs again and again in the next slot, and without it, in blocks by turns so
// that whatever else the machine does meets both. One iteration is one job of each. Its own table is for people.
func BenchmarkNeighbours(b *testing.B) {
	attacks, err := attack.Load(os.DirFS(folder))
	require.NoError(b, err)
	var rows strings.Builder
	for _, name := range loud {
		at := slices.IndexFunc(attacks, func(a attack.Attack) bool { return a.Name == name })
		require.GreaterOrEqual(b, at, 0, "no attack has the name %q", name)
		b.Run(name, func(b *testing.B) {
			l := newLab(b, mode{change: func(o *docker.Options) { o.PoolSize = 2 }}, newHost(b))
			require.NoError(b, l.Warm(b.Context()))
			var quiet, beside times
			b.ResetTimer()
			for done := 0; done < b.N; done += blockJobs {
				jobs := min(blockJobs, b.N-done)
				quiet.add(b, l, jobs)
				stop := l.keepAttacking(b, &attacks[at])
				beside.add(b, l, jobs)
				stop()
			}
			b.ReportMetric(0, "ns/op")
			if b.N == 1 { // what Go runs first to see whether it works
				return
			}
			b.ReportMetric(quantile(beside.whole, 0.99)/quantile(quiet.whole, 0.99), "p99-ratio")
			b.ReportMetric(quantile(beside.whole, 0.5)/quantile(quiet.whole, 0.5), "p50-ratio")
			fmt.Fprintf(&rows, "| %s | %d |%s%s\n", name, b.N, columns(quiet.whole, beside.whole), columns(quiet.program, beside.program))
		})
	}
	fmt.Printf("\n| attack in the next slot | jobs | whole job p50 | with it | ratio | p99 | with it | ratio "+
		"| program alone p50 | with it | ratio | p99 | with it | ratio |\n|---|%s\n%s\n", strings.Repeat("---|", 13), rows.String())
}

// add times jobs one after the other.
func (ts *times) add(b *testing.B, l *lab, jobs int) {
	b.Helper()
	for range jobs {
		begun := time.Now()
		result, err := l.Run(b.Context(), neighbour)
		took := time.Since(begun)
		require.NoError(b, err)
		require.Equal(b, "2666646666700000\n", string(result.Stdout.Data), result.Message)
		ts.whole = append(ts.whole, took.Seconds()*1000)
		ts.program = append(ts.program, result.Duration.Duration().Seconds()*1000)
	}
}

// keepAttacking runs an attack again and again, and returns when it has begun for the first time. The function that it returns ends it.
func (l *lab) keepAttacking(b *testing.B, a *attack.Attack) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancelCause(b.Context())
	began, ended := make(chan struct{}), make(chan error, 1)
	p := l.program(b, a)
	first := true
	p.OnStart = func(sandbox.Enforcement) {
		if first {
			close(began)
		}
		first = false
	}
	go func() {
		for ctx.Err() == nil {
			if _, err := l.Run(ctx, p); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	select {
	case <-began:
	case err := <-ended:
		require.NoError(b, err)
	}
	return func() {
		cancel(sandbox.ErrCanceled)
		require.NoError(b, <-ended)
	}
}

// columns are the median and the 99th percentile without and with an attack, in ms, each with the ratio.
func columns(quiet, beside []float64) string {
	var out strings.Builder
	for _, q := range []float64{0.5, 0.99} {
		without, with := quantile(quiet, q), quantile(beside, q)
		fmt.Fprintf(&out, " %.0f ms | %.0f ms | %.2f |", without, with, with/without)
	}
	return out.String()
}

// quantile is the smallest value that is not exceeded by a part q of all.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
