package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// elsewhere is Sessions of which none is in this worker.
type elsewhere string

func (e elsewhere) Run(context.Context, SessionJob) (sandbox.Result, *workspace.Report, error) {
	return sandbox.Result{}, nil, fmt.Errorf("look up session: %w", &ElsewhereError{string(e)})
}

// pair is a worker that holds the sessions, and one that does not and takes all jobs, since the holder's slots are taken.
type pair struct {
	holder, other *testWorker
	// sessions are the holder's.
	sessions fakeSessions
	// plain is what takes the holder's only slot.
	plain *run
}

func (b *bundle) pair(alter ...func(*WorkerOptions)) *pair {
	b.t.Helper()
	runner, p := newFakeRunner(), &pair{sessions: newFakeSessions()}
	p.holder = b.start(runner, append(alter, in(p.sessions), func(o *WorkerOptions) { o.ID, o.Concurrency = "holder", 1 })...)
	b.submit(job("plain"))
	p.plain = receive(b.t, runner.runs)
	p.other = b.start(echoRunner{}, in(elsewhere("holder")), func(o *WorkerOptions) { o.ID = "other" })
	return p
}

// field reads one field of a job's state.
func (b *bundle) field(id, name string) string {
	b.t.Helper()
	value, err := b.rdb.HGet(b.ctx, "sandloop:{"+id+"}:state", name).Result()
	require.NoError(b.t, err)
	return value
}

// nothingLeft checks that asynq keeps nothing of the own queue of a worker that ended.
func (b *bundle) nothingLeft(worker string) {
	b.t.Helper()
	queue := "sandloop:worker:" + worker
	left, err := b.rdb.Keys(b.ctx, "asynq:{"+queue+"}:*").Result()
	require.NoError(b.t, err)
	for _, key := range left { // what asynq counts by the day expires
		require.Regexp(b.t, `:(processed|failed):\d{4}-\d\d-\d\d$`, key)
	}
	known, err := b.rdb.SIsMember(b.ctx, "asynq:queues", queue).Result()
	require.NoError(b.t, err)
	require.False(b.t, known)
}

func TestSessionJobRunsInTheWorkerThatHoldsItsSession(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p := b.pair(func(o *WorkerOptions) { o.MaxAttempts = 1 })
		fastest := bound
		for i := range 5 {
			start := time.Now()
			id := b.submit(sessionJob("x"))
			r := receive(t, p.sessions.runs)
			fastest = min(fastest, time.Since(start))
			require.Equal(t, 1, r.job.Attempt)
			require.Equal(t, id, r.job.Program.ID)
			status, err := b.client.Status(b.ctx, id)
			require.NoError(t, err)
			require.Equal(t, Running, status.State)
			require.Equal(t, "holder", status.Worker)
			r.succeed("in the session")
			record := b.await(id)
			require.Equal(t, "in the session", string(record.Result.Stdout.Data))
			require.Equal(t, Default, record.Queue)
			require.Len(t, record.Attempts, 1)
			require.Equal(t, 1, record.Attempts[0].Number)
			require.Equal(t, "holder", record.Attempts[0].Worker)
			require.Equal(t, "0", b.field(id, "failures"))
			require.EqualValues(t, i+1, p.other.Counters().Forwarded.Load())
		}
		require.Less(t, fastest, safetyPoll/2, "nobody polled")
		require.Zero(t, p.other.Counters().Failed.Load())
		p.plain.succeed("")
	})
}

func TestForwardedJobsHaveSlotsOfTheirOwn(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p := b.pair(func(o *WorkerOptions) { o.SessionSlots = 2 })
		ids := map[string]bool{}
		for i := range 3 {
			ids[b.submit(sessionJob(fmt.Sprint(i)))] = true
		}
		first, second := receive(t, p.sessions.runs), receive(t, p.sessions.runs)
		eventually(t, func() bool { return p.other.Counters().Forwarded.Load() == 3 }, "all are forwarded")
		require.Empty(t, p.sessions.runs)
		for _, r := range []*sessionRun{first, second} {
			delete(ids, r.job.ID)
		}
		for id := range ids {
			status, err := b.client.Status(b.ctx, id)
			require.NoError(t, err)
			require.Equal(t, Status{ID: id, State: Queued, Queue: Default, Tenant: "alice", SubmittedAt: status.SubmittedAt}, status)
		}
		first.succeed("")
		third := receive(t, p.sessions.runs)
		require.True(t, ids[third.job.ID])
		second.succeed("")
		third.succeed("")
		p.plain.succeed("")
		eventually(t, func() bool { return p.holder.Counters().Finished.Load() == 4 }, "all done")
		stats, err := b.client.Stats(b.ctx)
		require.NoError(t, err)
		require.Equal(t, 2, stats.Workers[0].SessionSlots)
		require.Equal(t, 8, stats.Workers[1].SessionSlots)
	})
}

func TestJobOfABusySessionIsPutOff(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		sessions := newFakeSessions()
		w := b.start(echoRunner{}, in(sessions), func(o *WorkerOptions) { o.MaxAttempts = 1 })
		id := b.submit(sessionJob("x"))
		for range 2 {
			r := receive(t, sessions.runs)
			require.Equal(t, 1, r.job.Attempt, "a try that found it busy is no attempt")
			r.fail(fmt.Errorf("take lease: %w", ErrSessionBusy))
		}
		answered := time.Now()
		r := receive(t, sessions.runs)
		require.Less(t, time.Since(answered), 5*time.Second)
		require.Equal(t, 1, r.job.Attempt)
		r.succeed("at last")
		record := b.await(id)
		require.Equal(t, "at last", string(record.Result.Stdout.Data))
		require.Len(t, record.Attempts, 1)
		require.Equal(t, "0", b.field(id, "failures"))
		require.EqualValues(t, 2, w.Counters().PutOff.Load())
		require.Zero(t, w.Counters().Failed.Load())
	})
}

func TestJobThatWasPutOffIsQueued(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		sessions := newFakeSessions()
		w := b.start(echoRunner{}, in(sessions))
		id := b.submit(sessionJob("x"))
		receive(t, sessions.runs).fail(ErrSessionBusy)
		eventually(t, func() bool { return w.Counters().PutOff.Load() == 1 }, "put off")
		require.Equal(t, "0", b.field(id, "attempt"))
		status, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		if status.State == Running { // it was tried again already
			receive(t, sessions.runs)
		}
		require.Equal(t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)
	})
}

// Both say that the other one has it.
func TestJobThatGoesToAndFroWaits(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		calls := newFakeSessions()
		first := b.start(echoRunner{}, in(calls), func(o *WorkerOptions) { o.ID = "first" })
		second := b.start(echoRunner{}, in(calls), func(o *WorkerOptions) { o.ID = "second" })
		counts := func() [2]int64 {
			one, two := first.Counters(), second.Counters()
			return [2]int64{one.Forwarded.Load() + two.Forwarded.Load(), one.PutOff.Load() + two.PutOff.Load()}
		}
		id := b.submit(sessionJob("x"))
		next := func() {
			r := receive(t, calls.runs)
			status, err := b.client.Status(b.ctx, id)
			require.NoError(t, err)
			answer := map[string]string{"first": "second", "second": "first"}[status.Worker]
			r.fail(&ElsewhereError{answer})
		}
		for range 4 {
			next()
		}
		eventually(t, func() bool { return counts() == [2]int64{3, 1} }, "three forwards, then it waits")
		for range 4 {
			next()
		}
		eventually(t, func() bool { return counts() == [2]int64{6, 2} }, "and again")
		r := receive(t, calls.runs)
		require.Equal(t, 1, r.job.Attempt)
		r.succeed("")
		require.Len(t, b.await(id).Attempts, 1)
		require.Equal(t, "0", b.field(id, "failures"))
	})
}

func TestSessionThatNobodyHoldsIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		worker   string
		forwards int
	}{"a worker that is gone": {"gone", 3}, "oneself": {"self", 0}, "no name": {"", 0}, "no name of a worker": {"a}:{b", 0}} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, b *bundle) {
				sessions := newFakeSessions()
				w := b.start(echoRunner{}, in(sessions), func(o *WorkerOptions) { o.ID = "self" })
				id := b.submit(sessionJob("x"))
				for range c.forwards + 1 {
					receive(t, sessions.runs).fail(&ElsewhereError{c.worker})
				}
				r := receive(t, sessions.runs)
				require.EqualValues(t, 1, w.Counters().PutOff.Load())
				require.Zero(t, w.Counters().Forwarded.Load())
				r.succeed("")
				require.Len(t, b.await(id).Attempts, 1)
				b.nothingLeft("gone")
			})
		})
	}
}

func TestCancelOfAForwardedJobThatWaits(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p := b.pair(func(o *WorkerOptions) { o.SessionSlots = 1 })
		b.submit(sessionJob("1"))
		r := receive(t, p.sessions.runs)
		id := b.submit(sessionJob("2"))
		eventually(t, func() bool { return p.other.Counters().Forwarded.Load() == 2 }, "forwarded")
		status, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, Done, status.State)
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
		require.Empty(t, record.Attempts)
		r.succeed("")
		b.submit(sessionJob("3"))
		last := receive(t, p.sessions.runs)
		require.Equal(t, "3", string(last.job.Program.Source), "the canceled one does not run")
		last.succeed("")
		p.plain.succeed("")
	})
}

func TestCancelOfAForwardedJobThatRuns(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p := b.pair()
		id := b.submit(sessionJob("x"))
		receive(t, p.sessions.runs)
		_, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
		require.Len(t, record.Attempts, 1)
		p.plain.succeed("")
	})
}

// stubbornSessions do not look at their context.
type stubbornSessions struct{ fakeSessions }

func (s stubbornSessions) Run(ctx context.Context, job SessionJob) (sandbox.Result, *workspace.Report, error) {
	return s.fakeSessions.Run(context.WithoutCancel(ctx), job)
}

func TestCancelAsAJobIsHandedOver(t *testing.T) {
	for name, problem := range map[string]error{"busy": ErrSessionBusy, "elsewhere": &ElsewhereError{"holder"}} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, b *bundle) {
				sessions := stubbornSessions{newFakeSessions()}
				w := b.start(echoRunner{}, in(sessions))
				id := b.submit(sessionJob("x"))
				r := receive(t, sessions.runs)
				_, err := b.client.Cancel(b.ctx, id)
				require.NoError(t, err)
				r.fail(problem)
				record := b.await(id)
				require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
				require.Equal(t, "the job was canceled before it started", record.Result.Message)
				require.Empty(t, record.Attempts)
				w.stop(t)
				require.Zero(t, w.Counters().PutOff.Load(), "at once")
				require.Zero(t, w.Counters().Forwarded.Load())
			})
		})
	}
}

// What failed in the holder may work elsewhere.
func TestForwardedJobThatFailsIsTriedByAnyWorker(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		held := newFakeSessions()
		runner := newFakeRunner()
		holder := b.start(runner, in(held), func(o *WorkerOptions) { o.ID, o.Concurrency = "holder", 1 })
		b.submit(job("plain"))
		plain := receive(t, runner.runs)
		sessions := newFakeSessions()
		b.start(echoRunner{}, in(sessions), func(o *WorkerOptions) { o.ID = "other" })
		id := b.submit(sessionJob("x"))
		receive(t, sessions.runs).fail(&ElsewhereError{"holder"})
		receive(t, held.runs).fail(errors.New("no daemon"))
		again := receive(t, sessions.runs)
		require.Equal(t, 2, again.job.Attempt)
		again.succeed("")
		record := b.await(id)
		require.Len(t, record.Attempts, 2)
		require.Equal(t, "no daemon", record.Attempts[0].Error)
		require.Equal(t, "holder", record.Attempts[0].Worker)
		require.Equal(t, "other", record.Attempts[1].Worker)
		require.Equal(t, "1", b.field(id, "failures"))
		require.EqualValues(t, 1, holder.Counters().Failed.Load())
		plain.succeed("")
	})
}

func TestForwardedJobIsGivenUpAfterItsAttempts(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p := b.pair(func(o *WorkerOptions) { o.MaxAttempts = 1 })
		id := b.submit(sessionJob("x"))
		receive(t, p.sessions.runs).fail(errors.New("no daemon"))
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		eventually(t, func() bool { s, err := b.client.Stats(b.ctx); return err == nil && s.Queues[1].Dead == 1 }, "a dead letter of its own queue")
		p.plain.succeed("")
	})
}

// An error that looks like a handover is a failure where there is no session.
func TestOnlyASessionIsHandedOver(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner, func(o *WorkerOptions) { o.MaxAttempts = 1 })
		id := b.submit(job("1"))
		receive(t, runner.runs).answer <- answer{err: ErrSessionBusy}
		require.Equal(t, sandbox.OutcomeInfraError, b.await(id).Result.Outcome)
		require.EqualValues(t, 1, w.Counters().Failed.Load())
	})
}

func TestHandOverSentTwiceRepliesTheSame(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(sessionJob("x"))
		ghost, a := b.ghost(id)
		handOver := func(token, target string) []string {
			reply, err := ghost.store.run(b.ctx, handOverScript, id, token, target, maxForwards, "1", "1000", "channel", "canceled")
			require.NoError(t, err)
			return reply
		}
		for range 2 {
			require.Equal(t, []string{"queued", "2", "holder"}, handOver(a.token, "holder"))
		}
		state, err := b.rdb.HGetAll(b.ctx, "sandloop:{"+id+"}:state").Result()
		require.NoError(t, err)
		for name, want := range map[string]string{"state": "queued", "attempt": "0", "dispatch": "2", "forwards": "1", "failures": "0", "token": "", "owner": "", "started": "", "history": ""} {
			require.Equal(t, want, state[name], name)
		}
		stale, err := ghost.begin(b.ctx, a.ref, newToken())
		require.NoError(t, err)
		require.Equal(t, "stale", stale.verdict)
		second := &attempt{ref: ref{ID: id, Dispatch: 2}, token: newToken()}
		begun, err := ghost.begin(b.ctx, second.ref, second.token)
		require.NoError(t, err)
		require.Equal(t, 1, begun.attempt)
		require.Equal(t, Default, begun.queue)
		require.Equal(t, []string{"lost"}, handOver(a.token, "holder"), "the first attempt has no more to say")
		for range 2 {
			require.Equal(t, []string{"queued", "2", ""}, handOver(second.token, ""))
		}
		require.Equal(t, []string{"lost"}, handOver(a.token, ""))
	})
}
