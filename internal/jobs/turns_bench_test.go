package jobs

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// pausingRunner takes its time for every program.
type pausingRunner struct {
	echoRunner
	pause time.Duration
}

func (r pausingRunner) Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	select {
	case <-time.After(r.pause):
	case <-ctx.Done():
	}
	return r.echoRunner.Run(ctx, program)
}

// BenchmarkTurns reports how long the ten jobs of a tenant wait that come after the 10,000 of another one, which are run four
// at a time and take 5 ms each: with turns, and first in, first out, as it is when all of them are one tenant's.
func BenchmarkTurns(b *testing.B) {
	for name, tenant := range map[string]string{"turns": "bob", "fifo": "alice"} {
		b.Run(name, func(b *testing.B) {
			var waits []time.Duration
			for b.Loop() {
				bundle := setup(b)
				w := bundle.start(pausingRunner{pause: 5 * time.Millisecond})
				bundle.submitMany("alice", 10_000)
				for _, id := range bundle.submitMany(tenant, 10) {
					record := bundle.await(id)
					waits = append(waits, record.Attempts[0].Started.Sub(record.SubmittedAt))
				}
				w.stop(b)
			}
			slices.Sort(waits)
			b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "max-ms")
		})
	}
}

// BenchmarkTake reports how long it takes to take a task, of 10,000 that wait, with so many tenants.
func BenchmarkTake(b *testing.B) {
	for _, tenants := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			bundle := setup(b)
			many := make([]Job, 10_000)
			for i := range many {
				many[i] = of(fmt.Sprintf("tenant-%d", i%tenants), "1")
			}
			left := 0
			for b.Loop() {
				if left == 0 {
					b.StopTimer()
					_, err := bundle.client.SubmitMany(bundle.ctx, many)
					require.NoError(b, err)
					left = len(many)
					b.StartTimer()
				}
				task, _ := bundle.tryTake(Default, time.Now())
				require.NotEmpty(b, task)
				left--
			}
		})
	}
}

// BenchmarkCancel reports how long it takes to cancel 10,000 of 20,000 jobs that wait.
func BenchmarkCancel(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		bundle := setup(b)
		ids := bundle.submitMany("alice", 20_000)
		b.StartTimer()
		bundle.cancelHalf(ids)
	}
}
