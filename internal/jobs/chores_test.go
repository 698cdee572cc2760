package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Three workers share a host, whose chore is due at the start and every 2 s.
func TestHostIsReapedOnceAPeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reaps := make(chan time.Time, 100)
	for range 3 {
		b.start(echoRunner{}, func(o *WorkerOptions) {
			o.Host, o.ReapEvery = "daemon-1", 2*time.Second
			o.Reap = func(context.Context) error {
				reaps <- time.Now()
				return errors.New("a failure does not end it")
			}
		})
	}
	first := receive(t, reaps)
	for last, count := first, 0; count < 3; count++ {
		next := receive(t, reaps)
		require.GreaterOrEqual(t, next.Sub(last), 1700*time.Millisecond, "not twice in a period")
		last = next
	}
}

func TestEachHostIsReaped(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	for _, host := range []string{"daemon-1", "daemon-2"} {
		reaped := make(chan struct{}, 100)
		b.start(echoRunner{}, func(o *WorkerOptions) {
			o.Host, o.ReapEvery = host, time.Minute
			o.Reap = func(context.Context) error { reaped <- struct{}{}; return nil }
		})
		receive(t, reaped)
	}
}

func TestReapingEndsWithItsWorker(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reaping := make(chan struct{})
	w := b.start(echoRunner{}, func(o *WorkerOptions) {
		o.Host = "daemon-1"
		o.Reap = func(ctx context.Context) error {
			close(reaping)
			<-ctx.Done()
			return ctx.Err()
		}
	})
	receive(t, reaping)
	w.stop(t)
}
