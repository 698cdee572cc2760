package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

var errDown = errors.New("no daemon answers")

// machine can be broken. It counts how often it was asked.
type machine struct {
	broken atomic.Bool
	asked  atomic.Int64
}

func (m *machine) ready(context.Context) error {
	m.asked.Add(1)
	if m.broken.Load() {
		return errDown
	}
	return nil
}

// The worker that fails fastest would otherwise get all the jobs.
func TestAWorkerThatCanRunNothingTakesNothing(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		m, runner := &machine{}, newFakeRunner()
		m.broken.Store(true)
		b.start(runner, func(o *WorkerOptions) { o.Ready, o.MaxAttempts, o.Concurrency = m.ready, 1, 1 })
		first := b.submit(job("1"))
		receive(t, runner.runs).answer <- answer{err: errDown}
		eventually(t, func() bool { return m.asked.Load() >= 3 }, "it asks again")
		second := b.submit(job("2"))
		eventually(t, func() bool { return m.asked.Load() >= 5 }, "it asks on")
		require.Empty(t, runner.runs)
		for _, id := range []string{first, second} {
			status, err := b.client.Status(b.ctx, id)
			require.NoError(t, err)
			require.Equal(t, Queued, status.State)
		}
		m.broken.Store(false)
		for range 2 {
			receive(t, runner.runs).succeed("done")
		}
		record := b.await(first)
		require.Equal(t, sandbox.OutcomeOK, record.Result.Outcome)
		require.Len(t, record.Attempts, 2)
		require.Equal(t, errDown.Error(), record.Attempts[0].Error)
		require.Len(t, b.await(second).Attempts, 1)
	})
}

func TestAnotherWorkerTakesWhatOneCannotRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m, runner := &machine{}, newFakeRunner()
	m.broken.Store(true)
	broken := b.start(runner, func(o *WorkerOptions) { o.Ready, o.MaxAttempts = m.ready, 1 })
	id := b.submit(job("1"))
	r := receive(t, runner.runs)
	b.start(echoRunner{})
	r.answer <- answer{err: errDown}
	record := b.await(id)
	require.Equal(t, sandbox.OutcomeOK, record.Result.Outcome)
	require.Equal(t, broken.ID(), record.Attempts[0].Worker)
	require.NotEqual(t, broken.ID(), record.Attempts[1].Worker)
	broken.stop(t) // which it can while it takes nothing
}

// A job that fails on a machine that is well has itself to thank.
func TestAFailureOnAReadyMachineCounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m, runner := &machine{}, newFakeRunner()
	b.start(runner, func(o *WorkerOptions) { o.Ready, o.MaxAttempts = m.ready, 1 })
	id := b.submit(job("1"))
	receive(t, runner.runs).answer <- answer{err: errDown}
	require.Equal(t, sandbox.OutcomeInfraError, b.await(id).Result.Outcome)
	require.EqualValues(t, 1, m.asked.Load())
}

// A job that breaks the machine each time it runs.
func TestExcusesComeToAnEnd(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		w, err := NewWorker(WorkerOptions{Redis: b.rdb, Runner: echoRunner{}, MaxAttempts: 2})
		require.NoError(t, err)
		release := func(dispatch int) []string {
			a := &attempt{ref: ref{ID: id, Dispatch: dispatch}, token: newToken()}
			begun, err := w.begin(b.ctx, a.ref, a.token)
			require.NoError(t, err)
			require.Equal(t, "run", begun.verdict)
			a.number = begun.attempt
			reply, err := w.release(b.ctx, a, releaseExcused, "it broke")
			require.NoError(t, err)
			return reply
		}
		for i := range excuses + 1 { // the last of these counts
			require.Equal(t, "queued", release(i + 1)[0])
		}
		require.Equal(t, []string{"done", "infra_error"}, release(excuses+2))
		require.Len(t, b.await(id).Attempts, excuses+2)
	})
}

func TestPausedSlotsAreGrantedWhenTheyResume(t *testing.T) {
	t.Parallel()
	s := newSlots(2, 1, DefaultWeights())
	_, held := s.tryOrWait(Batch)
	require.NotNil(t, held)
	s.pause()
	batch, interactive := queueUp(t, s, Batch, 2), queueUp(t, s, Interactive, 1)
	s.release(*held)
	for _, granted := range append(batch, interactive...) {
		require.Empty(t, granted)
	}
	s.resume()
	require.Equal(t, slot{interactive: true}, receive(t, interactive[0]))
	require.Equal(t, slot{}, receive(t, batch[0]))
	require.Equal(t, slot{}, receive(t, batch[1]))
	queueUp(t, s, Default, 1) // none is left
}
