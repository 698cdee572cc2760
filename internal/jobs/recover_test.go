package jobs

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestJobsOfAKilledWorkerRunElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := startChild(t, b.addr)
	ids, started := map[string]bool{}, []string{}
	for i := range 4 {
		id := b.submit(job(fmt.Sprint(i)))
		ids[id] = true
		started = append(started, "started "+id)
	}
	lost.expect(started...)
	runner := newFakeRunner()
	w := b.start(runner)
	eventually(t, func() bool { alive, err := b.client.WorkerAlive(b.ctx, w.ID()); return err == nil && alive[w.ID()] }, "worker is up")
	lost.signal(syscall.SIGKILL)
	killed := time.Now()
	for range 4 {
		r := receive(t, runner.runs)
		require.True(t, ids[r.program.ID])
		require.Equal(t, 2, r.program.Attempt)
		r.succeed("again")
	}
	took := time.Since(killed)
	t.Logf("all run again after %s", took)
	require.Less(t, took, 10*time.Second)
	for id := range ids {
		record := b.await(id)
		require.Equal(t, "again", string(record.Result.Stdout.Data))
		require.Len(t, record.Attempts, 2)
		require.Equal(t, "worker lost", record.Attempts[0].Error)
		require.Equal(t, "child", record.Attempts[0].Worker)
		require.Contains(t, runner.killed, id+"<2")
	}
	require.Empty(t, runner.runs, "each runs once")
	require.EqualValues(t, 4, w.Counters().Recovered.Load())
	eventually(t, func() bool {
		n, err := b.rdb.Exists(b.ctx, "sandloop:running:child").Result()
		registered, err2 := b.rdb.SIsMember(b.ctx, "sandloop:workers", "child").Result()
		return err == nil && err2 == nil && n == 0 && !registered
	}, "the lost worker is forgotten")
}

func TestFrozenWorkerWritesNothingWhenItThaws(t *testing.T) {
	t.Parallel()
	b := setup(t)
	frozen := startChild(t, b.addr)
	id := b.submit(job("1"))
	frozen.expect("started " + id)
	runner := newFakeRunner()
	b.start(runner)
	frozen.signal(syscall.SIGSTOP)
	r := receive(t, runner.runs)
	require.Equal(t, 2, r.program.Attempt)
	frozen.signal(syscall.SIGCONT)
	frozen.expect("canceled " + id + " " + ErrLost.Error())
	r.succeed("right")
	record := b.await(id)
	require.Equal(t, "right", string(record.Result.Stdout.Data))
	require.Len(t, record.Attempts, 2)
}

// A job that kills its workers must come to an end.
func TestLostWorkersCountAsAttempts(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.ghost(id)
		b.start(echoRunner{}, func(o *WorkerOptions) { o.MaxAttempts = 1 })
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		require.Contains(t, record.Result.Message, "its worker was lost")
		require.Len(t, record.Attempts, 1)
		require.Equal(t, "worker lost", record.Attempts[0].Error)
	})
}

func TestCancelOfALostWorkersJob(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		ghost, a := b.ghost(id)
		status, err := b.client.Cancel(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, Running, status.State, "nobody knows yet that its worker is gone")
		runner := newFakeRunner()
		b.start(runner)
		require.Equal(t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)
		require.Empty(t, runner.runs)
		eventually(t, func() bool {
			runner.mu.Lock()
			defer runner.mu.Unlock()
			return slices.Contains(runner.killed, fmt.Sprintf("%s<%d", id, math.MaxInt))
		}, "its containers are killed, for no later attempt will do it")
		stored, err := ghost.finish(b.ctx, a, sandbox.OutcomeCanceled, packResult(okResult("late")))
		require.NoError(t, err)
		require.False(t, stored, "it comes back and has lost the job")
	})
}

// Two who recover from the same worker, one of them cut off before it enqueued the task.
func TestRecoveryIsDoneOnceAndCompleted(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.ghost(id)
		w, err := NewWorker(WorkerOptions{Redis: b.rdb, Runner: echoRunner{}})
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, w.recoverJob(b.ctx, id+":1", "ghost"))
			state, err := b.rdb.HMGet(b.ctx, "sandloop:{"+id+"}:state", "dispatch", "failures", "state").Result()
			require.NoError(t, err)
			require.Equal(t, []any{"2", "1", "queued"}, state)
			require.EqualValues(t, 2, b.pending(), "the task of before and the new one")
			require.NoError(t, b.client.store.withdraw(b.ctx, Default, "alice", ref{id, 2})) // as if it was cut off
			require.EqualValues(t, 1, b.pending())
		}
		require.NoError(t, w.recoverJob(b.ctx, "not a job", "ghost"))
	})
}

func TestOnlyAConfirmedDeadWorkerIsCondemned(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w, err := NewWorker(WorkerOptions{ID: "self", Redis: b.rdb, Runner: echoRunner{}})
	require.NoError(t, err)
	require.NoError(t, b.rdb.SAdd(b.ctx, "sandloop:workers", "self", "other").Err())
	require.NoError(t, b.rdb.Set(b.ctx, "sandloop:worker:self", "{}", 0).Err())
	s := &sweeper{worker: w, suspects: map[string]time.Time{}}
	now := time.Now()
	look := func(after time.Duration) []string {
		dead, err := s.look(b.ctx, now.Add(after))
		require.NoError(t, err)
		return dead
	}
	require.Empty(t, look(0), "the first look never condemns")
	require.Empty(t, look(1900*time.Millisecond))
	require.NoError(t, b.rdb.Set(b.ctx, "sandloop:worker:other", "{}", 0).Err())
	require.Empty(t, look(3*time.Second), "it was a blip")
	require.NoError(t, b.rdb.Del(b.ctx, "sandloop:worker:other").Err())
	require.Empty(t, look(4*time.Second))
	require.Equal(t, []string{"other"}, look(6*time.Second), "and never oneself")

	canceled, cancel := context.WithCancel(b.ctx)
	cancel()
	require.Error(t, s.sweep(canceled, now.Add(7*time.Second)), "redis does not answer")
	require.Empty(t, look(8*time.Second))
	require.Empty(t, look(11*time.Second), "after an outage everybody has time to renew his heartbeat")
	require.Empty(t, look(12500*time.Millisecond))
	require.Equal(t, []string{"other"}, look(15*time.Second))
}

// Redis that is full answers and refuses all heartbeats, which then expire.
func TestNobodyIsCondemnedByWhoseOwnHeartbeatIsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w, err := NewWorker(WorkerOptions{ID: "self", Redis: b.rdb, Runner: echoRunner{}})
	require.NoError(t, err)
	require.NoError(t, b.rdb.SAdd(b.ctx, "sandloop:workers", "other").Err())
	s := &sweeper{worker: w, suspects: map[string]time.Time{}}
	now := time.Now()
	look := func(after time.Duration) []string {
		dead, err := s.look(b.ctx, now.Add(after))
		require.NoError(t, err)
		return dead
	}
	for _, after := range []time.Duration{0, 3 * time.Second, 6 * time.Second} {
		require.Empty(t, look(after))
	}
	require.NoError(t, b.rdb.Set(b.ctx, "sandloop:worker:self", "{}", 0).Err())
	require.Empty(t, look(7*time.Second))
	require.Empty(t, look(10900*time.Millisecond), "the others need a moment, too")
	require.Empty(t, look(11*time.Second), "the first look never condemns")
	require.Equal(t, []string{"other"}, look(13*time.Second))
}

// A worker that is suspected is looked at again when that may be confirmed, and not a whole period later.
func TestASuspicionIsConfirmedInTime(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		suspects    map[string]time.Time
		least, most time.Duration
	}{
		"nobody is suspected":         {nil, 900 * time.Millisecond, 1100 * time.Millisecond},
		"since just now":              {map[string]time.Time{"a": now}, 900 * time.Millisecond, 1100 * time.Millisecond},
		"since 1.5 s":                 {map[string]time.Time{"a": now.Add(-1500 * time.Millisecond)}, 500 * time.Millisecond, 600 * time.Millisecond},
		"one since 1.5 s, one 1.9 s":  {map[string]time.Time{"a": now.Add(-1500 * time.Millisecond), "b": now.Add(-1900 * time.Millisecond)}, 100 * time.Millisecond, 200 * time.Millisecond},
		"whose recovery did not work": {map[string]time.Time{"a": now.Add(-time.Minute)}, 900 * time.Millisecond, 1100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 100 {
				pause := (&sweeper{suspects: test.suspects}).pause(now)
				require.GreaterOrEqual(t, pause, test.least)
				require.Less(t, pause, test.most)
			}
		})
	}
}

// A worker that died, or lost the reply, between taking a task and beginning the job.
func TestTaskThatNobodyBeganRunsSoon(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.submit(job("1"))
	require.Equal(t, id+":1", b.takeAt(Default, time.Now().Add(-10*time.Second)))
	b.start(echoRunner{})
	require.Len(t, b.await(id).Attempts, 1)
}

// A process with a fixed id came back after it was killed.
func TestWorkerPutsBackWhatItsFormerSelfRan(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.ghost(id)
		require.NoError(t, b.client.store.withdraw(b.ctx, Default, "alice", ref{id, 1}))
		b.start(echoRunner{}, func(o *WorkerOptions) { o.ID = "ghost" })
		record := b.await(id)
		require.Len(t, record.Attempts, 2)
		require.Equal(t, "worker lost", record.Attempts[0].Error)
	})
}

func TestResultIsStoredAlthoughRedisRestarts(t *testing.T) {
	t.Parallel()
	b := setup(t, "--appendonly", "yes", "--appendfsync", "always", "--enable-debug-command", "local")
	runner := newFakeRunner()
	w := b.start(runner, func(o *WorkerOptions) { o.Grace = bound })
	id, waiting := b.submit(job("1")), make(chan Record, 1)
	go func() { waiting <- b.await(id) }()
	r := receive(t, runner.runs)
	b.restartRedis(2500 * time.Millisecond)
	r.succeed("kept")
	record := receive(t, waiting)
	require.Equal(t, "kept", string(record.Result.Stdout.Data))
	require.Len(t, record.Attempts, 1, "it ran once")
	require.Equal(t, "kept", string(b.await(id).Result.Stdout.Data))
	require.Equal(t, "2", string(b.awaitEcho(runner).Result.Stdout.Data), "and the worker goes on")
	require.Zero(t, w.Counters().Recovered.Load())
	require.Zero(t, w.Counters().Dropped.Load())
}

// All heartbeats expire while Redis is away.
func TestNobodyIsCondemnedAfterAnOutage(t *testing.T) {
	t.Parallel()
	b := setup(t, "--appendonly", "yes", "--appendfsync", "always", "--enable-debug-command", "local")
	runner := newFakeRunner()
	workers := []*testWorker{}
	for range 2 {
		workers = append(workers, b.start(runner, func(o *WorkerOptions) { o.Concurrency = 1 }))
	}
	ids := []string{b.submit(job("1")), b.submit(job("2"))}
	runs := []*run{receive(t, runner.runs), receive(t, runner.runs)}
	b.restartRedis(heartbeatExpiry + 2*time.Second)
	eventually(t, func() bool {
		alive, err := b.client.WorkerAlive(b.ctx, workers[0].ID(), workers[1].ID())
		return err == nil && alive[workers[0].ID()] && alive[workers[1].ID()]
	}, "workers are back")
	for _, r := range runs {
		r.succeed("kept")
	}
	for i, id := range ids {
		require.Len(t, b.await(id).Attempts, 1)
		require.Zero(t, workers[i].Counters().Recovered.Load())
	}
	require.Empty(t, runner.runs)
}

// restartRedis makes the server go away for a while. It waits until it does not answer.
func (b *bundle) restartRedis(away time.Duration) {
	b.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(b.ctx, "tcp", b.addr)
	require.NoError(b.t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "DEBUG RESTART %d\r\n", away.Milliseconds()) // go-redis would send it again
	require.NoError(b.t, err)
	eventually(b.t, func() bool {
		conn, err := (&net.Dialer{}).DialContext(b.ctx, "tcp", b.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, "redis is away")
}

// awaitEcho runs one more job to its end.
func (b *bundle) awaitEcho(runner *fakeRunner) Record {
	b.t.Helper()
	id := b.submit(job("2"))
	r := receive(b.t, runner.runs)
	r.succeed(string(r.program.Source))
	return b.await(id)
}
