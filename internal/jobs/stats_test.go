package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStatsCountJobsAndWorkers(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		stats, err := b.client.Stats(b.ctx)
		require.NoError(t, err)
		require.Equal(t, Stats{Queues: []QueueStats{{Queue: Interactive}, {Queue: Default}, {Queue: Batch}}, Workers: []WorkerInfo{}}, stats)

		runner := newFakeRunner()
		w := b.start(runner, func(o *WorkerOptions) { o.Concurrency, o.InteractiveSlots = 2, 1 })
		for range 5 {
			b.submit(job("1"))
		}
		runs := []*run{receive(t, runner.runs), receive(t, runner.runs)}
		eventually(t, func() bool {
			stats, err := b.client.Stats(b.ctx)
			require.NoError(t, err)
			return len(stats.Workers) == 1 && stats.Workers[0].Running == 2
		}, "heartbeat with two jobs")
		stats, err = b.client.Stats(b.ctx)
		require.NoError(t, err)
		waiting := stats.Queues[1]
		require.Positive(t, waiting.OldestSeconds)
		require.Positive(t, waiting.Bytes)
		require.Zero(t, waiting.Bytes%3, "three jobs of the same size")
		waiting.OldestSeconds, waiting.Bytes = 0, 0
		require.Equal(t, QueueStats{Queue: Default, Pending: 3, Running: 2, Tenants: 1, Taken: 2}, waiting)
		info := stats.Workers[0]
		require.Equal(t, w.ID(), info.ID)
		require.Equal(t, 2, info.Slots)
		require.Equal(t, 1, info.InteractiveSlots)
		for range 3 {
			runs = append(runs, nil)
		}
		for i := range runs {
			if runs[i] == nil {
				runs[i] = receive(t, runner.runs)
			}
			runs[i].succeed("")
		}
		alive, err := b.client.WorkerAlive(b.ctx, w.ID(), "nobody")
		require.NoError(t, err)
		require.Equal(t, map[string]bool{w.ID(): true, "nobody": false}, alive)
	})
}

// A killed worker's jobs run no more, although asynq has their tasks among the active ones until it looks at them.
func TestStatsCountNoJobWhoseLeaseIsOver(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submitMany("alice", 3)
		require.NotEmpty(t, b.takeAt(Default, time.Now().Add(-leaseDuration-2*time.Second)))
		require.NotEmpty(t, b.takeAt(Default, time.Now()))
		stats, err := b.client.Stats(b.ctx)
		require.NoError(t, err)
		require.EqualValues(t, 1, stats.Queues[1].Running)
		require.EqualValues(t, 1, stats.Queues[1].Pending)
	})
}

func TestInstallationHasOneID(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		first, err := EnsureInstallation(b.ctx, b.rdb, "", "")
		require.NoError(t, err)
		require.Len(t, first, 16)
		again, err := EnsureInstallation(b.ctx, b.rdb, DefaultPrefix, "")
		require.NoError(t, err)
		require.Equal(t, first, again)
		other, err := EnsureInstallation(b.ctx, b.rdb, "other", "")
		require.NoError(t, err)
		require.NotEqual(t, first, other)
		proposed, err := EnsureInstallation(b.ctx, b.rdb, "third", "embedded-here")
		require.NoError(t, err)
		require.Equal(t, "embedded-here", proposed)
		kept, err := EnsureInstallation(b.ctx, b.rdb, "third", "embedded-there")
		require.NoError(t, err)
		require.Equal(t, "embedded-here", kept, "the first proposal stays")
	})
}
