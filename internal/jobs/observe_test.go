package jobs

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// observing has a worker tell what it observes.
func observing(told chan Observation) func(*WorkerOptions) {
	return func(o *WorkerOptions) { o.Observe = func(seen Observation) { told <- seen } }
}

func TestEachResultIsObservedOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner, told := newFakeRunner(), make(chan Observation, 100)
		w := b.start(runner, observing(told), func(o *WorkerOptions) { o.MaxAttempts = 2 })

		good := job("1")
		good.Queue, good.Program.Language = Interactive, "ruby"
		began := time.Now()
		id := b.submit(good)
		result := okResult("1")
		result.Duration = sandbox.Seconds(1500 * time.Millisecond)
		receive(t, runner.runs).answer <- answer{result: result}
		b.await(id)
		seen := receive(t, told)
		require.Less(t, seen.QueueTime+seen.SlotTime, time.Since(began)+time.Second, "times in Redis are rounded")
		require.Positive(t, seen.SlotTime)
		seen.QueueTime, seen.SlotTime = 0, 0
		require.Equal(t, Observation{Queue: Interactive, Language: "ruby", Outcome: sandbox.OutcomeOK, Attempt: 1, RunTime: 1500 * time.Millisecond}, seen)

		id = b.submit(job("2"))
		for range 2 {
			receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		}
		require.Equal(t, sandbox.OutcomeInfraError, b.await(id).Result.Outcome)
		seen = receive(t, told)
		require.Positive(t, seen.QueueTime, "the pause before the second attempt")
		seen.QueueTime, seen.SlotTime = 0, 0
		require.Equal(t, Observation{Queue: Default, Language: "python", Outcome: sandbox.OutcomeInfraError, Attempt: 2}, seen)

		id = b.submit(job("3"))
		r := receive(t, runner.runs)
		_, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		receive(t, r.ctx.Done())
		require.Equal(t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)
		require.Equal(t, sandbox.OutcomeCanceled, receive(t, told).Outcome)

		b.await(b.submit(sessionJob("4"))) // which this worker rejects
		require.Equal(t, sandbox.OutcomeRejected, receive(t, told).Outcome)
		w.stop(t)
		require.Empty(t, told)
	})
}

// A job whose attempt is given up after somebody canceled it ends with that.
func TestACanceledJobOfAStoppingWorkerIsObserved(t *testing.T) {
	t.Parallel()
	a := &attempt{queue: Batch, number: 3}
	told := make(chan Observation, 1)
	w := &Worker{}
	observing(told)(&w.options)
	for _, reply := range [][]string{nil, {"lost"}, {"queued", "2"}} {
		w.observeReleased(a, reply)
		require.Empty(t, told)
	}
	for _, reply := range [][]string{{"done"}, {"done", "canceled"}} {
		w.observeReleased(a, reply)
		seen := receive(t, told)
		require.Equal(t, sandbox.OutcomeCanceled, seen.Outcome)
		require.Equal(t, Batch, seen.Queue)
		require.Equal(t, 3, seen.Attempt)
	}
}

func TestALostWorkerIsObserved(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		given := job("1")
		given.Queue = Batch
		id := b.submit(given)
		b.ghost(id)
		told, took := make(chan Observation, 10), make(chan time.Duration, 10)
		w := b.start(echoRunner{}, observing(told), func(o *WorkerOptions) {
			o.MaxAttempts = 1
			o.ObserveRecovery = func(d time.Duration) { took <- d }
		})
		require.Equal(t, Observation{Queue: Batch, Outcome: sandbox.OutcomeInfraError}, receive(t, told))
		recovered := receive(t, took)
		require.GreaterOrEqual(t, recovered, confirmAfter, "so long a heartbeat must be missing")
		require.Less(t, recovered, bound)
		require.EqualValues(t, 1, w.Counters().Lost.Load())
		w.stop(t)
		require.Empty(t, told)
		require.Empty(t, took)
	})
}

func TestSlotsInUse(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	runner, sessions := newFakeRunner(), newFakeSessions()
	w := b.start(runner, func(o *WorkerOptions) { o.Concurrency, o.InteractiveSlots, o.SessionSlots = 2, 3, 5 }, in(sessions))
	require.Equal(t, []SlotUse{{"shared", 2, 0}, {"interactive", 3, 0}, {"session", 5, 0}}, w.Slots())
	urgent := job("1")
	urgent.Queue = Interactive
	b.submit(urgent)
	first := receive(t, runner.runs)
	b.submit(job("2"))
	second := receive(t, runner.runs)
	require.Equal(t, []SlotUse{{"shared", 2, 1}, {"interactive", 3, 1}, {"session", 5, 0}}, w.Slots())
	first.succeed("")
	second.succeed("")
	eventually(t, func() bool { use := w.Slots(); return use[0].Busy == 0 && use[1].Busy == 0 }, "both are free")

	leave := w.vitals.occupy(slot{}, true)
	require.Equal(t, SlotUse{"session", 5, 1}, w.Slots()[2])
	leave()
	require.Equal(t, SlotUse{"session", 5, 0}, w.Slots()[2])
	w.stop(t)
	require.Len(t, b.start(runner).Slots(), 2, "a worker without sessions has no slots for them")
}

func TestAWorkerTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	runner := newFakeRunner()
	w := b.start(runner, func(o *WorkerOptions) { o.Grace = bound })
	eventually(t, w.Serving, "it takes jobs")
	require.False(t, w.Draining())
	require.False(t, w.Paused())
	w.slots.pause()
	require.True(t, w.Paused())
	w.slots.resume()
	b.submit(job("1"))
	r := receive(t, runner.runs)
	w.cancel()
	eventually(t, w.Draining, "it was told to stop")
	require.False(t, w.Serving())
	require.NoError(t, w.Live(), "it has a job to finish")
	r.succeed("")
	w.stop(t)
	require.NoError(t, w.Live(), "nothing is stuck that has ended")
}

// Who kills a worker for the failure of Redis has no workers when that is back.
func TestAWorkerWithoutRedisIsAlive(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t)
	b := connect(t, server.Addr)
	w := b.start(echoRunner{})
	eventually(t, w.Serving, "it takes jobs")
	server.End(syscall.SIGKILL)
	eventually(t, func() bool { return w.Counters().HeartbeatsFailed.Load() >= 1 }, "heartbeats fail")
	require.NoError(t, w.Live())
	server.Start(t)
	eventually(t, func() bool { return w.Counters().HeartbeatsLate.Load() >= 1 }, "the first heartbeat after it is late")
}

func TestALoopThatIsStuckIsNamed(t *testing.T) {
	t.Parallel()
	w := &Worker{}
	require.NoError(t, w.Live(), "it does not run")
	w.vitals.heartbeat.beat()
	w.vitals.sweep.beat()
	require.NoError(t, w.Live())
	ago := func(d time.Duration) int64 { return int64(time.Since(epoch) - d) }
	w.vitals.heartbeat.at.Store(ago(29 * time.Second))
	w.vitals.sweep.at.Store(ago(119 * time.Second))
	require.NoError(t, w.Live())
	w.vitals.heartbeat.at.Store(ago(45 * time.Second))
	require.ErrorContains(t, w.Live(), "the heartbeat has been stuck for 45s")
	w.vitals.heartbeat.rest()
	require.NoError(t, w.Live())
	w.vitals.sweep.at.Store(ago(3 * time.Minute))
	require.ErrorContains(t, w.Live(), "the sweep for lost workers has been stuck for 3m0s")
}

func TestHeartbeatsThatAreLateOrFail(t *testing.T) {
	t.Parallel()
	w, start := &Worker{}, time.Now()
	for _, beat := range []struct {
		after        time.Duration
		err          error
		late, failed int64
	}{
		{0, nil, 0, 0},
		{time.Second, nil, 0, 0},
		{2499 * time.Millisecond, nil, 0, 0}, // 1.499 s later
		{3999 * time.Millisecond, nil, 1, 0}, // 1.5 s later
		{5 * time.Second, errors.New("no"), 1, 1},
		{5400 * time.Millisecond, nil, 1, 1}, // 1.401 s after the one that arrived
		{6 * time.Second, errors.New("no"), 1, 2},
		{7 * time.Second, nil, 2, 2}, // 1.6 s after it
	} {
		w.beaten(beat.err, start.Add(beat.after))
		require.Equal(t, beat.late, w.counters.HeartbeatsLate.Load(), beat.after)
		require.Equal(t, beat.failed, w.counters.HeartbeatsFailed.Load(), beat.after)
	}
}
