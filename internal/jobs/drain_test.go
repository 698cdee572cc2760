package jobs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestStoppingWorkerLetsJobsFinish(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner, func(o *WorkerOptions) { o.Grace = bound })
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		w.cancel()
		receive(t, w.Worker.stop)
		waiting := b.submit(job("2"))
		r.succeed("finished")
		w.stop(t)
		record := b.await(id)
		require.Equal(t, "finished", string(record.Result.Stdout.Data))
		status, err := b.client.Status(b.ctx, waiting)
		require.NoError(t, err)
		require.Equal(t, Queued, status.State, "it took no more")
		stats, err := b.client.Stats(b.ctx)
		require.NoError(t, err)
		require.Empty(t, stats.Workers)
		require.Equal(t, int64(1), stats.Queues[1].Pending)
		require.Zero(t, stats.Queues[1].Running)
	})
}

func TestStoppingWorkerGivesJobsBack(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner, func(o *WorkerOptions) { o.Grace, o.MaxAttempts = 10*time.Millisecond, 1 })
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		w.stop(t)
		require.Equal(t, ErrShutdown, context.Cause(r.ctx))
		require.EqualValues(t, 1, w.Counters().Requeued.Load())
		status, err := b.client.Status(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, Queued, status.State)
		members, err := b.rdb.Exists(b.ctx, "sandloop:running:"+w.ID(), "sandloop:worker:"+w.ID()).Result()
		require.NoError(t, err)
		require.Zero(t, members)

		next := b.start(runner, func(o *WorkerOptions) { o.MaxAttempts = 1 }) // a burnt attempt would be its last
		again := receive(t, runner.runs)
		require.Equal(t, id, again.program.ID)
		again.succeed("elsewhere")
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeOK, record.Result.Outcome)
		require.Len(t, record.Attempts, 2)
		require.Equal(t, "worker shut down", record.Attempts[0].Error)
		require.Equal(t, w.ID(), record.Attempts[0].Worker)
		require.Equal(t, next.ID(), record.Attempts[1].Worker)
	})
}

func TestRunThatEndsAsTheWorkerStopsIsKept(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(stubbornRunner{runner}, func(o *WorkerOptions) { o.Grace = time.Millisecond })
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		w.cancel()
		receive(t, r.ctx.Done())
		r.succeed("just in time")
		w.stop(t)
		require.Equal(t, "just in time", string(b.await(id).Result.Stdout.Data))
	})
}

// stubbornRunner does not end with its context.
type stubbornRunner struct{ *fakeRunner }

func (s stubbornRunner) Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	r := &run{ctx: ctx, program: program, answer: make(chan answer, 1)}
	s.runs <- r
	a := <-r.answer
	return a.result, a.err
}

func TestWorkerThatIsStoppedAtOnceReturns(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{}).stop(t)
	})
}

// With a short grace a task may reach its handler only when all others have been told to end.
func TestAttemptThatStartsAsTheWorkerEndsIsEnded(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	w, err := NewWorker(WorkerOptions{Redis: b.rdb, Runner: echoRunner{}})
	require.NoError(t, err)
	held, ok := w.slots.acquire(Default, nil, nil)
	require.True(t, ok)
	enter := func() context.Context {
		ctx, cancel := context.WithCancelCause(b.ctx)
		t.Cleanup(func() { cancel(nil) })
		w.register(&attempt{token: newToken(), cancel: cancel})
		return ctx
	}
	early, drained := enter(), make(chan error, 1)
	go func() { drained <- w.drain(nil) }()
	receive(t, early.Done())
	late := enter()
	w.slots.release(held)
	require.NoError(t, receive(t, drained))
	require.Equal(t, ErrShutdown, context.Cause(late))
	require.Equal(t, ErrShutdown, context.Cause(early))
}
