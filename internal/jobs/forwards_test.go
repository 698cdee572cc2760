package jobs

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// frozenChild is a worker in a process of its own that has a heartbeat and takes nothing.
func frozenChild(t *testing.T, b *bundle) *child {
	t.Helper()
	c := startChild(t, b.addr)
	eventually(t, func() bool { alive, err := b.client.WorkerAlive(b.ctx, "child"); return err == nil && alive["child"] }, "child is up")
	c.signal(syscall.SIGSTOP)
	return c
}

func TestJobForwardedToAWorkerThatIsKilledBeforeItTakesIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := frozenChild(t, b)
	sessions := newFakeSessions()
	w := b.start(echoRunner{}, in(sessions), func(o *WorkerOptions) { o.MaxAttempts = 1 })
	id := b.submit(sessionJob("x"))
	receive(t, sessions.runs).fail(&ElsewhereError{"child"})
	eventually(t, func() bool { return w.Counters().Forwarded.Load() == 1 }, "forwarded")
	lost.signal(syscall.SIGKILL)
	killed := time.Now()
	r := receive(t, sessions.runs)
	took := time.Since(killed)
	t.Logf("back after %s", took)
	require.Less(t, took, 12*time.Second)
	require.Equal(t, 1, r.job.Attempt)
	r.succeed("from the files")
	record := b.await(id)
	require.Equal(t, "from the files", string(record.Result.Stdout.Data))
	require.Len(t, record.Attempts, 1, "nobody had begun")
	require.Equal(t, "0", b.field(id, "failures"))
	require.EqualValues(t, 1, w.Counters().Recovered.Load())
	eventually(t, func() bool {
		registered, err := b.rdb.SIsMember(b.ctx, "sandloop:workers", "child").Result()
		return err == nil && !registered
	}, "the lost worker is forgotten")
	b.nothingLeft("child")
}

func TestJobForwardedToAWorkerThatIsKilledWhileItRunsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := frozenChild(t, b)
	sessions := newFakeSessions()
	w := b.start(echoRunner{}, in(sessions))
	id := b.submit(sessionJob("x"))
	receive(t, sessions.runs).fail(&ElsewhereError{"child"})
	eventually(t, func() bool { return w.Counters().Forwarded.Load() == 1 }, "forwarded")
	lost.signal(syscall.SIGCONT)
	lost.expect("started " + id)
	lost.signal(syscall.SIGKILL)
	r := receive(t, sessions.runs)
	require.Equal(t, 2, r.job.Attempt)
	r.succeed("")
	record := b.await(id)
	require.Len(t, record.Attempts, 2)
	require.Equal(t, "child", record.Attempts[0].Worker)
	require.Equal(t, "worker lost", record.Attempts[0].Error)
	require.EqualValues(t, 1, w.Counters().Recovered.Load(), "it was in the set and in the queue")
	eventually(t, func() bool {
		registered, err := b.rdb.SIsMember(b.ctx, "sandloop:workers", "child").Result()
		return err == nil && !registered
	}, "the lost worker is forgotten")
	b.nothingLeft("child")
}

func TestForwardedJobIsReturnedWhenItsWorkerStops(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner, held, sessions := newFakeRunner(), newFakeSessions(), newFakeSessions()
		holder := b.start(runner, in(held), func(o *WorkerOptions) {
			o.ID, o.Concurrency, o.SessionSlots, o.Grace, o.MaxAttempts = "holder", 1, 1, bound, 1
		})
		b.submit(job("plain"))
		plain := receive(t, runner.runs)
		b.start(echoRunner{}, in(sessions), func(o *WorkerOptions) { o.ID, o.MaxAttempts = "other", 1 })
		runs := b.submit(sessionJob("1"))
		receive(t, sessions.runs).fail(&ElsewhereError{"holder"})
		first := receive(t, held.runs)
		waits := b.submit(sessionJob("2"))
		receive(t, sessions.runs).fail(&ElsewhereError{"holder"})
		putOff := b.submit(sessionJob("3"))
		receive(t, sessions.runs).fail(&ElsewhereError{"holder"})
		eventually(t, func() bool {
			n, err := b.rdb.LLen(b.ctx, "asynq:{sandloop:worker:holder}:pending").Result()
			return err == nil && n == 2
		}, "both wait")

		holder.cancel()
		stopped := time.Now()
		ids := map[string]bool{waits: true, putOff: true}
		for range 2 { // while the holder still runs what it has
			r := receive(t, sessions.runs)
			require.True(t, ids[r.job.ID])
			require.Equal(t, 1, r.job.Attempt)
			r.succeed("elsewhere")
		}
		require.Less(t, time.Since(stopped), 5*time.Second)
		late := b.submit(sessionJob("4")) // and so does one that comes too late
		receive(t, sessions.runs).fail(&ElsewhereError{"holder"})
		r := receive(t, sessions.runs)
		require.Equal(t, late, r.job.ID)
		r.succeed("elsewhere")

		first.succeed("in time")
		plain.succeed("")
		receive(t, holder.ended)
		require.NoError(t, holder.err)
		require.Equal(t, "in time", string(b.await(runs).Result.Stdout.Data))
		for _, id := range []string{waits, putOff, late} {
			record := b.await(id)
			require.Equal(t, "elsewhere", string(record.Result.Stdout.Data))
			require.Len(t, record.Attempts, 1)
		}
		require.EqualValues(t, 3, holder.Counters().Requeued.Load())
		b.nothingLeft("holder")
	})
}

// It was busy in the holder, which stops, and waits in its queue to be tried again.
func TestForwardedJobThatWasPutOffIsReturnedToo(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p := b.pair(func(o *WorkerOptions) { o.Grace = bound })
		id := b.submit(sessionJob("x"))
		r := receive(t, p.sessions.runs)
		p.other.stop(t)
		p.holder.cancel()
		receive(t, p.holder.Worker.stop) // from here on it takes nothing
		r.fail(ErrSessionBusy)
		eventually(t, func() bool { return p.holder.Counters().PutOff.Load() == 1 }, "put off")
		p.plain.succeed("")
		receive(t, p.holder.ended)
		require.NoError(t, p.holder.err)
		sessions := newFakeSessions()
		b.start(echoRunner{}, in(sessions))
		receive(t, sessions.runs).succeed("elsewhere")
		require.Len(t, b.await(id).Attempts, 1)
		b.nothingLeft("holder")
	})
}

func TestForwardedJobThatRunsIsGivenBackAtShutdown(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p := b.pair(func(o *WorkerOptions) { o.Grace = time.Millisecond })
		id := b.submit(sessionJob("x"))
		r := receive(t, p.sessions.runs)
		p.other.stop(t)
		p.holder.stop(t)
		require.Equal(t, ErrShutdown, context.Cause(r.ctx))
		sessions := newFakeSessions()
		b.start(echoRunner{}, in(sessions))
		again := receive(t, sessions.runs)
		require.Equal(t, 2, again.job.Attempt)
		again.succeed("")
		record := b.await(id)
		require.Equal(t, "worker shut down", record.Attempts[0].Error)
		require.Equal(t, "0", b.field(id, "failures"))
		b.nothingLeft("holder")
	})
}

// The forwarder died when Redis knew of the new dispatch and the holder did not.
func TestJobWhoseForwarderDiedOnTheWay(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(sessionJob("x"))
		ghost, a := b.ghost(id)
		reply, err := ghost.store.run(b.ctx, handOverScript, id, a.token, "holder", maxForwards, "1", "1000", "channel", "canceled")
		require.NoError(t, err)
		require.Equal(t, []string{"queued", "2", "holder"}, reply)
		require.NoError(t, b.rdb.SAdd(b.ctx, "sandloop:workers", "ghost").Err())
		sessions := newFakeSessions()
		b.start(echoRunner{}, in(sessions))
		r := receive(t, sessions.runs)
		require.Equal(t, 1, r.job.Attempt)
		r.succeed("")
		require.Len(t, b.await(id).Attempts, 1)
	})
}

// A worker took it from its own queue and lost the reply.
func TestForwardedTaskThatNobodyBeganRunsSoon(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.submit(sessionJob("x"))
	ghost, a := b.ghost(id)
	_, err := ghost.store.run(b.ctx, handOverScript, id, a.token, "holder", maxForwards, "1", "1000", "channel", "canceled")
	require.NoError(t, err)
	require.NoError(t, ghost.store.enqueue(b.ctx, ghost.store.tasks, "sandloop:worker:holder", ref{ID: id, Dispatch: 2}))
	ghost.forget(b.ctx, a.ref)
	const own = "asynq:{sandloop:worker:holder}:"
	require.NoError(t, b.rdb.LMove(b.ctx, own+"pending", own+"active", "RIGHT", "LEFT").Err())
	lease := redis.Z{Score: float64(time.Now().Add(20 * time.Second).Unix()), Member: id + ":2"} // 10 s old
	require.NoError(t, b.rdb.ZAdd(b.ctx, own+"lease", lease).Err())
	sessions := newFakeSessions()
	b.start(echoRunner{}, in(sessions), func(o *WorkerOptions) { o.ID = "holder" })
	receive(t, sessions.runs).succeed("")
	require.Len(t, b.await(id).Attempts, 1)
}

// A worker of the same name has started meanwhile, and something was forwarded to that.
func TestOnlyTheTasksThatWereSeenAreRemoved(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		s := b.client.store
		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, s.enqueue(b.ctx, s.tasks, "sandloop:worker:w", ref{ID: id, Dispatch: 1}))
		}
		const own = "asynq:{sandloop:worker:w}:"
		require.NoError(t, b.rdb.LMove(b.ctx, own+"pending", own+"active", "RIGHT", "LEFT").Err()) // a
		require.NoError(t, b.rdb.ZAdd(b.ctx, own+"lease", redis.Z{Member: "a:1"}).Err())
		require.NoError(t, s.removeForwarded(b.ctx, "w", false, []string{"a:1", "b:1"}))
		tasks, err := s.forwardedTasks(b.ctx, "w", "pending", "active", "retry")
		require.NoError(t, err)
		require.Equal(t, []string{"c:1", "a:1"}, tasks, "what runs stays")
		require.NoError(t, s.removeForwarded(b.ctx, "w", true, []string{"a:1", "b:1"}))
		tasks, err = s.forwardedTasks(b.ctx, "w", "pending", "active", "retry")
		require.NoError(t, err)
		require.Equal(t, []string{"c:1"}, tasks)
		left, err := b.rdb.Keys(b.ctx, own+"*").Result()
		require.NoError(t, err)
		require.ElementsMatch(t, []string{own + "pending", own + "t:c:1"}, left)
	})
}

func TestSessionsInEveryTopologyOfRedis(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(*testing.T) *bundle{"cluster": setupCluster, "sentinel": setupSentinel} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			p := b.pair(func(o *WorkerOptions) { o.SessionSlots = 1 })
			id := b.submit(sessionJob("1"))
			r := receive(t, p.sessions.runs)
			waits := b.submit(sessionJob("2"))
			eventually(t, func() bool { return p.other.Counters().Forwarded.Load() == 2 }, "forwarded")
			r.answer <- sessionAnswer{result: okResult(""), report: &workspace.Report{Version: 9}}
			require.EqualValues(t, 9, b.await(id).Session.Version)
			receive(t, p.sessions.runs).fail(ErrSessionBusy)
			eventually(t, func() bool { return p.holder.Counters().PutOff.Load() == 1 }, "put off")
			p.plain.succeed("")
			p.holder.stop(t)
			_, err := b.client.Cancel(b.ctx, waits)
			require.NoError(t, err)
			require.Equal(t, sandbox.OutcomeCanceled, b.await(waits).Result.Outcome)
			require.NoError(t, p.other.recoverWorker(b.ctx, "holder"))
		})
	}
}
