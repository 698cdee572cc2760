package jobs

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// refused submits a job that must be refused.
func (b *bundle) refused(j Job) *QuotaError {
	b.t.Helper()
	submission, err := b.client.Submit(b.ctx, j)
	var refusal *QuotaError
	require.ErrorAs(b.t, err, &refusal)
	require.Empty(b.t, submission)
	return refusal
}

// untimed checks that nothing is known of how fast jobs are taken, and returns the refusal without when to try again.
func (b *bundle) untimed(refusal *QuotaError) *QuotaError {
	b.t.Helper()
	require.GreaterOrEqual(b.t, refusal.RetryAfter, 3*time.Second)
	require.LessOrEqual(b.t, refusal.RetryAfter, 5*time.Minute)
	refusal.RetryAfter = 0
	return refusal
}

func TestWhatIsTooMuchIsRefused(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{MaxQueued: 2})
		b.submitMany("alice", 2)
		keyed := of("alice", "3")
		keyed.IdempotencyKey = "k"
		refusal := b.refused(keyed)
		require.Positive(t, refusal.Size)
		refusal.Size = 0
		require.Contains(t, refusal.Error(), `queue default is full: tenant "alice" has 2 jobs waiting: want at most 2 (max_queued): try again in `)
		require.Equal(t, &QuotaError{Tenant: "alice", Queue: Default, Limit: "max_queued", Max: 2, Used: 2}, b.untimed(refusal))
		left, err := b.rdb.Keys(b.ctx, "*"+KeyedID("alice", "k")+"}*").Result()
		require.NoError(t, err)
		require.Empty(t, left, "nothing is left of it")
		_, err = b.client.Status(b.ctx, KeyedID("alice", "k"))
		require.ErrorIs(t, err, ErrNotFound)

		b.submit(of("bob", "1")) // nobody else is concerned
		j := of("alice", "batch")
		j.Queue = Batch
		b.submit(j)
		require.Equal(t, "a", b.taken(1)) // and one that is taken makes room, also while it runs
		again, err := b.client.Submit(b.ctx, keyed)
		require.NoError(t, err)
		require.Equal(t, Submission{ID: KeyedID("alice", "k")}, again, "it is new again")
		_ = b.refused(of("alice", "4"))
		same, err := b.client.Submit(b.ctx, keyed)
		require.NoError(t, err, "one that was accepted is not refused")
		require.True(t, same.Existing)
		b.consistent(Default)
	})
}

func TestBytesAreBounded(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submit(of("alice", "1"))
		stats, err := b.client.Stats(b.ctx)
		require.NoError(t, err)
		size := stats.Queues[1].Bytes
		require.Positive(t, size)
		b.setQuota("alice", Quota{MaxQueuedBytes: 2*size + 1})
		b.submit(of("alice", "2"))
		refusal := b.refused(of("alice", "3"))
		require.Equal(t, &QuotaError{
			Tenant: "alice", Queue: Default, Limit: "max_queued_bytes", Max: 2*size + 1, Used: 2 * size, Size: size,
		}, b.untimed(refusal))
		require.Contains(t, refusal.Error(), fmt.Sprintf(`tenant "alice" has %d bytes waiting and this job has %d: want at most %d`, 2*size, size, 2*size+1))

		b.setQuota("alice", Quota{MaxQueuedBytes: size - 1})
		never := b.refused(of("alice", "3"))
		require.Zero(t, never.RetryAfter)
		require.Contains(t, never.Error(), "it will never fit")
	})
}

func TestDepthOfAQueueIsBounded(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		require.NoError(t, b.client.SetDepth(b.ctx, Default, Depth{MaxQueued: 3}))
		b.submitMany("alice", 3)
		refusal := b.refused(of("bob", "1"))
		require.True(t, refusal.WholeQueue)
		require.Equal(t, "bob", refusal.Tenant)
		require.EqualValues(t, 3, refusal.Max)
		require.EqualValues(t, 3, refusal.Used)
		require.Contains(t, refusal.Error(), "queue default is full: all tenants have 3 jobs waiting: want at most 3 (max_queued): try again in ")
		b.taken(1)
		b.submit(of("bob", "1"))

		stats, err := b.client.Stats(b.ctx)
		require.NoError(t, err)
		require.NoError(t, b.client.SetDepth(b.ctx, Default, Depth{MaxQueuedBytes: stats.Queues[1].Bytes}))
		require.Equal(t, "max_queued_bytes", b.refused(of("bob", "1")).Limit)
		_ = b.refused(of("", "1"))
		require.NoError(t, b.client.SetDepth(b.ctx, Default, Depth{}))
		b.submit(of("bob", "2"))
	})
}

func TestSubmitManyRefusesEachByItself(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{MaxQueued: 5})
		many := make([]Job, 20)
		for i := range many {
			many[i] = of([]string{"alice", "bob"}[i%2], fmt.Sprint(i))
		}
		submissions, err := b.client.SubmitMany(b.ctx, many)
		require.ErrorContains(t, err, "5 of 20 jobs were not accepted")
		accepted := map[string]int{}
		for i, submission := range submissions {
			if submission.Err == nil {
				accepted[many[i].Tenant]++
				continue
			}
			var refusal *QuotaError
			require.ErrorAs(t, submission.Err, &refusal)
			_, err := b.client.Status(b.ctx, submission.ID)
			require.ErrorIs(t, err, ErrNotFound)
		}
		require.Equal(t, map[string]int{"alice": 5, "bob": 10}, accepted)
		require.EqualValues(t, 15, b.consistent(Default))
	})
}

// One script admits tasks of several tenants and in every way, and the counts are as if each had come by itself.
func TestManyAreAdmittedTogether(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{MaxQueued: 2})
		client := b.client.store
		var tasks []*admission
		admit := func(tenant, id, mode string) {
			tasks = append(tasks, &admission{
				base: client.keys.turns(Default), queue: Default, tenant: tenant, size: 10, mode: mode,
				key:  asynqKey(client.keys.asynqQueue(Default), "t:") + id,
				args: []any{"message of " + id, id, time.Now().UnixNano()}, cmd: redis.NewCmd(b.ctx),
			})
		}
		admit("alice", "1", admitNew)
		admit("bob", "2", admitNew)
		admit("alice", "3", admitForced) // goes first
		admit("alice", "4", admitNew)    // two wait
		admit("alice", "5", admitForced) // is never refused
		admit("bob", "2", admitNew)      // is there
		admit("alice", "4", admitAgain)  // is still refused
		admit("bob", "6", admitAgain)
		admitTogether(b.ctx, b.rdb, tasks)

		var replies []any
		for _, task := range tasks {
			require.NoError(t, task.cmd.Err())
			replies = append(replies, task.cmd.Val())
			if task.refusal != nil {
				refusal := b.untimed(task.refusal)
				require.Equal(t, &QuotaError{Tenant: "alice", Queue: Default, Limit: "max_queued", Max: 2, Used: 2, Size: 10}, refusal)
				replies[len(replies)-1] = "refused"
			}
		}
		admitted, exists := int64(1), int64(0)
		require.Equal(t, []any{admitted, admitted, admitted, "refused", admitted, exists, "refused", admitted}, replies)
		require.EqualValues(t, 5, b.consistent(Default))
		order := ""
		for range 5 {
			order += b.takeAt(Default, time.Now())
		}
		require.Equal(t, "5"+"2"+"3"+"6"+"1", order, "in turn, and those of a tenant as they came or were forced")
	})
}

// Many producers at the same time never get in more than there is room for.
func TestBoundIsExactUnderContention(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{MaxQueued: 30})
		var all errgroup.Group
		var mu sync.Mutex
		accepted := 0
		for producer := range 8 {
			all.Go(func() error {
				for i := range 10 {
					_, err := b.client.Submit(b.ctx, of("alice", fmt.Sprint(producer, i)))
					var refusal *QuotaError
					switch {
					case err == nil:
						mu.Lock()
						accepted++
						mu.Unlock()
					case !errors.As(err, &refusal):
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, all.Wait())
		require.Equal(t, 30, accepted)
		require.EqualValues(t, 30, b.consistent(Default))
	})
}

func TestAcceptedJobsAreNeverRefused(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		ids := b.submitMany("alice", 2)
		b.setQuota("alice", Quota{MaxQueued: 1})
		require.NoError(t, b.client.SetDepth(b.ctx, Default, Depth{MaxQueued: 1}))
		require.Equal(t, ids[0]+":1", b.takeAt(Default, time.Now()))
		ghost, _ := b.ghost(ids[0])
		require.NoError(t, ghost.recoverJob(b.ctx, ids[0]+":1", "ghost"))
		require.EqualValues(t, 2, b.consistent(Default))
		_ = b.refused(of("alice", "3"))

		runner := newFakeRunner() // it fails, is given back by a worker that stops, and runs
		w := b.start(runner, func(o *WorkerOptions) { o.Concurrency, o.Grace = 1, time.Millisecond })
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		receive(t, runner.runs)
		w.stop(t)
		b.start(echoRunner{})
		for _, id := range ids {
			require.Equal(t, sandbox.OutcomeOK, b.await(id).Result.Outcome)
		}
	})
}

func TestRetryAfterGoesByHowFastJobsAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		rate        float64 // as measured over the last 10 s
		least, most time.Duration
	}{
		"fast":      {1000, time.Second, time.Second},
		"1 in 10 s": {0.1, 11 * time.Second, 100 * time.Second}, // of 1 job in 10 s, and none for a second or more since then
		"hardly":    {0.0001, 5 * time.Minute, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, b *bundle) {
				b.setQuota("alice", Quota{MaxQueued: 1})
				b.submit(of("alice", "1"))
				require.NoError(t, b.rdb.HSet(b.ctx, "sandloop:{sandloop:default}:tenant:alice", "rate", c.rate).Err())
				refusal := b.refused(of("alice", "2"))
				require.GreaterOrEqual(t, refusal.RetryAfter, c.least)
				require.LessOrEqual(t, refusal.RetryAfter, c.most)
			})
		})
	}
}

// What was taken since the queue has something is what is known of the pace.
func TestRetryAfterOfAQueueThatHasJustBegun(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submitMany("alice", 20)
		b.taken(8)
		require.NoError(t, b.client.SetDepth(b.ctx, Default, Depth{MaxQueued: 12}))
		refusal := b.refused(of("bob", "1"))
		require.GreaterOrEqual(t, refusal.RetryAfter, time.Second, "8 in a second or more, and room for one is wanted")
		require.Less(t, refusal.RetryAfter, 10*time.Second)
	})
}

// The same job is handed in twice at the same time. One is refused and deletes the job: the other one's must not be gone with it.
func TestRefusalHoldsForWhoeverHandsInTheSameJob(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{MaxQueued: 1})
		full := b.submit(of("alice", "1"))
		keyed := of("alice", "2")
		keyed.IdempotencyKey = "k"
		created := func() *pendingJob {
			p, err := b.client.prepare(keyed, time.Now())
			require.NoError(t, err)
			p.submission = &Submission{}
			b.client.create(b.ctx, []*pendingJob{p})
			require.NoError(t, p.submission.Err)
			return p
		}
		first, second := created(), created()
		require.False(t, first.submission.Existing)
		require.True(t, second.submission.Existing)
		var refusal *QuotaError
		require.ErrorAs(t, b.client.admit(b.ctx, b.client.store.tasks, first), &refusal)
		_, err := b.client.Cancel(b.ctx, full)
		require.NoError(t, err) // now there is room
		require.ErrorAs(t, b.client.admit(b.ctx, b.client.store.tasks, second), &refusal, "the first one's end is not settled")
		b.client.discard(b.ctx, []*pendingJob{second}, time.Now().Add(bound))
		require.EqualValues(t, 1, b.rdb.Exists(b.ctx, "sandloop:{"+first.ref.ID+"}:state").Val(), "it is not the second one's to delete")
		b.client.discard(b.ctx, []*pendingJob{first}, time.Now().Add(bound))
		require.Zero(t, b.rdb.Exists(b.ctx, "sandloop:{"+first.ref.ID+"}:state", "sandloop:{"+first.ref.ID+"}:job").Val())

		require.NoError(t, b.rdb.Del(b.ctx, "sandloop:{sandloop:default}:refused:"+first.ref.String()).Err()) // a minute later
		require.ErrorContains(t, b.client.admit(b.ctx, b.client.store.tasks, second), "try again", "its job is gone")

		third := created()
		require.False(t, third.submission.Existing)
		require.NoError(t, b.client.admit(b.ctx, b.client.store.tasks, third))
	})
}

// What somebody canceled or took meanwhile is not deleted.
func TestOnlyAJobThatWaitsIsDiscarded(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		submit := func(source string) *pendingJob {
			p, err := b.client.prepare(of("alice", source), time.Now())
			require.NoError(t, err)
			p.submission = &Submission{}
			b.client.create(b.ctx, []*pendingJob{p})
			return p
		}
		canceled, begun := submit("1"), submit("2")
		_, err := b.client.Cancel(b.ctx, canceled.ref.ID)
		require.NoError(t, err)
		b.ghost(begun.ref.ID)
		b.client.discard(b.ctx, []*pendingJob{canceled, begun}, time.Now().Add(bound))
		require.Equal(t, sandbox.OutcomeCanceled, b.await(canceled.ref.ID).Result.Outcome)
		status, err := b.client.Status(b.ctx, begun.ref.ID)
		require.NoError(t, err)
		require.Equal(t, Running, status.State)
	})
}

func TestCanceledJobsMakeRoom(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{MaxQueued: 2})
		ids := b.submitMany("alice", 2)
		_ = b.refused(of("alice", "3"))
		for range 2 { // twice is as once
			_, err := b.client.Cancel(b.ctx, ids[0])
			require.NoError(t, err)
		}
		require.EqualValues(t, 1, b.consistent(Default))
		require.Zero(t, b.rdb.Exists(b.ctx, "asynq:{sandloop:default}:t:"+ids[0]+":1").Val())
		b.submit(of("alice", "3"))
		_, err := b.client.Cancel(b.ctx, ids[1])
		require.NoError(t, err)
		require.Equal(t, "a", b.taken(1))
		require.Empty(t, b.takeAt(Default, time.Now()))
	})
}

func TestCancelOfHalfALargeBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.submitMany("alice", 2000)
	b.cancelHalf(ids)
	var want []string
	for i := 1; i < len(ids); i += 2 {
		want = append(want, ids[i]+":1")
	}
	left, err := b.rdb.ZRange(b.ctx, "sandloop:{sandloop:default}:waiting:alice", 0, -1).Result()
	require.NoError(t, err)
	slices.Sort(want)
	slices.Sort(left)
	require.Equal(t, want, left, "the others are left")
	require.EqualValues(t, 1000, b.consistent(Default))
}

// cancelHalf cancels every other job, 16 at a time.
func (b *bundle) cancelHalf(ids []string) {
	b.t.Helper()
	var all errgroup.Group
	all.SetLimit(16)
	for i := 0; i < len(ids); i += 2 {
		all.Go(func() error { _, err := b.client.Cancel(b.ctx, ids[i]); return err })
	}
	require.NoError(b.t, all.Wait())
}

func TestMessageOfARefusal(t *testing.T) {
	t.Parallel()
	refusal := QuotaError{Queue: Batch, Limit: limitJobs, Max: 1, Used: 1, RetryAfter: time.Second}
	require.Equal(t, "queue batch is full: jobs without a tenant have 1 job waiting: want at most 1 (max_queued): try again in 1s", refusal.Error())
	require.NotContains(t, refusal.Error(), `""`)
}
