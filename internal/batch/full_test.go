package batch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/testenv"
)

func refusal(after time.Duration) error {
	return fmt.Errorf("submit job x: %w", &jobs.QuotaError{Queue: jobs.Batch, Limit: "max_queued", Max: 5, Used: 5, RetryAfter: after})
}

func TestAFullQueueIsWaitedFor(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue(), &collected{}
	var asked, prepared atomic.Int64
	queue.refuse = func(jobs.Job) error {
		if n := asked.Add(1); n > 40 && n <= 250 { // after some that were accepted
			return refusal(time.Millisecond)
		}
		return nil
	}
	options, notices := quick(got), []string{}
	options.Notice = func(text string) { notices = append(notices, text) }
	options.Prepare = func(context.Context) error { prepared.Add(1); return nil }
	counts, err := Run(t.Context(), queue, entries(100), options)
	require.NoError(t, err)
	require.ElementsMatch(t, ids(100), got.ids())
	require.Equal(t, 100, counts.Submitted)
	require.Equal(t, once(100), queue.times())
	require.Len(t, notices, 1, "it is said once, and no outage of Redis")
	require.Contains(t, notices[0], "queue batch is full")
	require.EqualValues(t, 1, prepared.Load(), "what Redis has is not stored again")
}

func TestTheWaitForRoomCanBeInterrupted(t *testing.T) {
	t.Parallel()
	queue := newFakeQueue()
	ctx, cancel := context.WithCancel(t.Context())
	queue.refuse = func(jobs.Job) error { return refusal(time.Hour) }
	options := quick(&collected{})
	options.Notice = func(string) { cancel() }
	counts, err := start(ctx, t, queue, entries(3), options)()
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, counts.Submitted)
}

func TestAJobThatNeverFitsIsNotJudged(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue(), &collected{}
	queue.refuse = func(job jobs.Job) error {
		if string(job.Program.Source) == "item-1" {
			return refusal(0)
		}
		return nil
	}
	counts, err := Run(t.Context(), queue, entries(3), quick(got))
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 2, grade.IE: 1}, counts.Verdicts)
	for _, item := range got.items {
		require.Equal(t, item.ID == "item-1", item.Verdict == grade.IE)
	}
}

// A tenant who may have 60 jobs waiting gets 100 judged.
func TestABatchLargerThanItsQuota(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisServer(t)
	judge, client := work(t, addr), newClient(t, addr)
	require.NoError(t, client.SetQuota(t.Context(), "school", jobs.Quota{MaxQueued: 60}))
	got := &collected{}
	options := quick(got)
	options.Tenant = "school"
	var most atomic.Int64
	watching, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		for watching.Err() == nil {
			if stats, err := client.Stats(watching); err == nil {
				most.Store(max(most.Load(), stats.Queues[2].Pending))
			}
		}
	})
	counts, err := start(t.Context(), t, client, entries(100), options)()
	stop()
	watch.Wait()
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 100}, counts.Verdicts)
	require.Equal(t, once(100), judge.times)
	require.LessOrEqual(t, most.Load(), int64(60))
}
