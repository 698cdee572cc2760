package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestACanceledBatchCancelsItsJobsAndNoOthers(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner, func(o *WorkerOptions) { o.Concurrency = 3 })
		done := b.submit(job("done"))
		receive(t, runner.runs).succeed("")
		b.await(done)
		running := []string{b.submit(job("r1")), b.submit(job("r2"))}
		runs := []*run{receive(t, runner.runs), receive(t, runner.runs)}
		stranger := b.submit(job("stranger"))
		other := receive(t, runner.runs)
		ids := append([]string{done}, running...)
		for i := range 20 {
			ids = append(ids, b.submit(job(fmt.Sprint(i))))
		}
		require.NoError(t, b.client.TrackBatch(b.ctx, "b1", ids, nil))
		require.NoError(t, b.client.TrackBatch(b.ctx, "b2", []string{stranger}, nil))

		found, err := b.client.CancelBatch(b.ctx, "b1")
		require.NoError(t, err)
		require.ElementsMatch(t, running, found.RunningIDs)
		found.RunningIDs = nil
		require.Equal(t, BatchCancellation{Queued: 20, Running: 2, Done: 1}, found)
		for _, r := range runs {
			receive(t, r.ctx.Done())
			require.Equal(t, sandbox.ErrCanceled, context.Cause(r.ctx))
		}
		for _, id := range ids[1:] {
			require.Equal(t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)
		}
		require.Equal(t, sandbox.OutcomeOK, b.await(done).Result.Outcome)
		require.NoError(t, other.ctx.Err())
		other.succeed("")
		require.Equal(t, sandbox.OutcomeOK, b.await(stranger).Result.Outcome)

		again, err := b.client.CancelBatch(b.ctx, "b1")
		require.NoError(t, err)
		require.Equal(t, BatchCancellation{Done: 23}, again)
	})
}

func TestACanceledBatchTakesNoMoreJobsUntilItIsResumed(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		canceled := func() bool {
			t.Helper()
			canceled, err := b.client.BatchCanceled(b.ctx, "b1")
			require.NoError(t, err)
			return canceled
		}
		require.NoError(t, b.client.TrackBatch(b.ctx, "b1", []string{"one", "two"}, nil))
		require.False(t, canceled())
		_, err := b.client.CancelBatch(b.ctx, "b1")
		require.NoError(t, err)
		require.True(t, canceled())
		require.ErrorIs(t, b.client.TrackBatch(b.ctx, "b1", []string{"three"}, []string{"one"}), ErrBatchCanceled)
		require.Equal(t, []string{"two"}, b.rdb.SMembers(b.ctx, "sandloop:batch:{b1}:jobs").Val(), "what ended is forgotten all the same")
		require.NoError(t, b.client.ResumeBatch(b.ctx, "b1"))
		require.False(t, canceled())
		require.NoError(t, b.client.TrackBatch(b.ctx, "b1", []string{"three"}, nil))
		require.NoError(t, b.client.TrackBatch(b.ctx, "b1", nil, []string{"two", "three"}))
		require.Zero(t, b.rdb.Exists(b.ctx, "sandloop:batch:{b1}:jobs").Val(), "nothing of it is left")
	})
}

// Its producer had noted the job and handed it in a moment after the others were canceled.
func TestAJobThatIsBornWhileItsBatchIsCanceledIsCanceled(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		late := job("late")
		late.ID = "late-1"
		require.NoError(t, b.client.TrackBatch(b.ctx, "b1", []string{late.ID}, nil))
		found, err := b.client.cancelBatch(b.ctx, "b1", func() error {
			canceled, err := b.client.BatchCanceled(b.ctx, "b1")
			require.NoError(t, err)
			require.True(t, canceled)
			b.submit(late)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, BatchCancellation{Queued: 1}, found)
		require.Equal(t, sandbox.OutcomeCanceled, b.await(late.ID).Result.Outcome)
	})
}

func TestABatchOfNoJobsCanBeCanceled(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		found, err := b.client.CancelBatch(b.ctx, "nothing")
		require.NoError(t, err)
		require.Equal(t, BatchCancellation{}, found)
	})
}

func TestANameThatNoBatchCanHaveIsRefused(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	for _, name := range []string{"", "a b", "a}b"} {
		_, err := b.client.CancelBatch(b.ctx, name)
		require.ErrorContains(t, err, "want up to 64 letters")
		_, err = b.client.BatchCanceled(b.ctx, name)
		require.Error(t, err)
		require.Error(t, b.client.TrackBatch(b.ctx, name, []string{"x"}, nil))
		require.Error(t, b.client.ResumeBatch(b.ctx, name))
	}
}

func TestABatchThatWasNotWhollyCanceledIsAnError(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	interrupted := errors.New("interrupted")
	waiting := b.submit(job("1"))
	require.NoError(t, b.client.TrackBatch(b.ctx, "b1", []string{"unborn", waiting}, nil))
	found, err := b.client.cancelBatch(b.ctx, "b1", func() error { return interrupted })
	require.ErrorIs(t, err, interrupted)
	require.Equal(t, BatchCancellation{Queued: 1}, found)
	canceled, cancel := context.WithCancel(b.ctx)
	cancel()
	_, err = b.client.CancelBatch(canceled, "b1")
	require.ErrorIs(t, err, context.Canceled)
}
