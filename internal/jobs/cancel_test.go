package jobs

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestCancelOfAWaitingJobEndsItAtOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		for range 2 { // twice is as once
			status, err := b.client.Cancel(b.ctx, id)
			require.NoError(t, err)
			require.Equal(t, Done, status.State)
			require.Equal(t, sandbox.OutcomeCanceled, status.Outcome)
			require.True(t, status.CancelRequested)
		}
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
		require.Empty(t, record.Attempts)
		require.False(t, record.Result.OK)

		require.Zero(t, b.pending(), "it is out of the way")
		runner := newFakeRunner()
		w := b.start(runner)
		other := b.submit(job("2"))
		r := receive(t, runner.runs)
		require.Equal(t, other, r.program.ID)
		r.succeed("")
		b.await(other)
		w.stop(t)
		require.EqualValues(t, 1, w.Counters().Finished.Load())
	})
}

func TestCancelOfARunningJobEndsTheRun(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner)
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		status, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		require.True(t, status.CancelRequested)
		receive(t, r.ctx.Done())
		require.Equal(t, sandbox.ErrCanceled, context.Cause(r.ctx))
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
		require.Len(t, record.Attempts, 1)
		require.Equal(t, w.ID(), record.Attempts[0].Worker)
	})
}

// The hint is lost: nobody published it.
func TestCancelIsSeenWithoutItsHint(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		require.NoError(t, b.rdb.HSet(b.ctx, b.client.store.keys.state(id), "cancel", "1").Err())
		receive(t, r.ctx.Done())
		require.Equal(t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)
	})
}

func TestCancelOfADoneJobChangesNothing(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{})
		id := b.submit(job("1"))
		before := b.await(id)
		status, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, Done, status.State)
		require.Equal(t, sandbox.OutcomeOK, status.Outcome)
		require.False(t, status.CancelRequested)
		require.Equal(t, before, b.await(id))
	})
}

func TestCancelOfAnUnknownJob(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		_, err := b.client.Cancel(b.ctx, "nobody")
		require.ErrorIs(t, err, ErrNotFound)
	})
}

// A job that was canceled while its worker failed is neither tried again nor given up.
func TestCancelWinsOverAFailureOfOurs(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner, func(o *WorkerOptions) { o.MaxAttempts = 1 })
		id := b.submit(job("1"))
		r := receive(t, runner.runs)
		require.NoError(t, b.rdb.HSet(b.ctx, b.client.store.keys.state(id), "cancel", "1").Err())
		r.answer <- answer{err: errors.New("no daemon")}
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
		require.Equal(t, 1, record.Attempts[0].Number)
		require.Empty(t, runner.runs)
	})
}

func TestCancelOfAJobThatWaitsForARetry(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		id := b.submit(job("1"))
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		eventually(t, func() bool { s, err := b.client.Status(b.ctx, id); return err == nil && s.State == Queued }, "waits again")
		status, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, sandbox.OutcomeCanceled, status.Outcome)
		require.Equal(t, "no daemon", b.await(id).Attempts[0].Error)
	})
}
