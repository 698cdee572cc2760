package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// A program's failure is a result, whatever it is, and is not tried again.
func TestFailureOfAProgramIsAResult(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner)
		for _, outcome := range []sandbox.Outcome{sandbox.OutcomeNonzeroExit, sandbox.OutcomeWallTimeout, sandbox.OutcomeRejected, sandbox.OutcomeCompileError} {
			id := b.submit(job("1"))
			receive(t, runner.runs).answer <- answer{result: sandbox.Result{Outcome: outcome, ExitCode: 3}}
			record := b.await(id)
			require.Equal(t, outcome, record.Result.Outcome)
			require.Equal(t, 3, record.Result.ExitCode)
			require.Len(t, record.Attempts, 1)
		}
		require.Empty(t, runner.runs)
	})
}

func TestFailureOfOursIsTriedAgain(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner)
		id := b.submit(job("1"))
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		second := receive(t, runner.runs)
		require.Equal(t, 2, second.program.Attempt)
		require.Equal(t, []string{id + "<2"}, runner.killed, "what the first attempt may have left is ended first")
		second.succeed("2")
		record := b.await(id)
		require.Equal(t, "2", string(record.Result.Stdout.Data))
		require.Len(t, record.Attempts, 2)
		require.Equal(t, "no daemon", record.Attempts[0].Error)
		require.Empty(t, record.Attempts[1].Error)
		require.EqualValues(t, 1, w.Counters().Failed.Load())
	})
}

func TestJobIsGivenUpAfterItsAttempts(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner, func(o *WorkerOptions) { o.MaxAttempts = 2 })
		id := b.submit(job("1"))
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		receive(t, runner.runs).answer <- answer{err: errors.New("no image")}
		record := b.await(id)
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		require.Contains(t, record.Result.Message, "2 times")
		require.Contains(t, record.Result.Message, "no image")
		require.Contains(t, record.Result.Message, "not to blame")
		require.Equal(t, []string{"no daemon", "no image"}, []string{record.Attempts[0].Error, record.Attempts[1].Error})
		body, err := b.rdb.Exists(b.ctx, "sandloop:{"+id+"}:job").Result()
		require.NoError(t, err)
		require.EqualValues(t, 1, body, "the body is kept for whoever looks into it")
		eventually(t, func() bool { s, err := b.client.Stats(b.ctx); return err == nil && s.Queues[1].Dead == 1 }, "dead letter")
	})
}

type panickingRunner struct{ echoRunner }

func (panickingRunner) Run(context.Context, sandbox.Program) (sandbox.Result, error) {
	panic("nil map")
}

func TestPanicOfTheRunnerIsOurFailure(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(panickingRunner{}, func(o *WorkerOptions) { o.MaxAttempts = 1 })
		record := b.await(b.submit(job("1")))
		require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome)
		require.Equal(t, "runner panicked: nil map", record.Attempts[0].Error)
	})
}

// A newer client may write what this worker would overlook.
func TestBodyThatCannotBeReadIsOurFailure(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		const program = `"program":{"language":"python","source":"1"}`
		wants := map[string]string{}
		for _, tt := range []struct{ body, want string }{
			{"?", "unpack: the format '?' is unknown"},
			{string(pack([]byte("[]"))), "job: is a JSON array: want an object"},
			{string(pack([]byte(`{` + program + `,"priority":1}`))), `unknown field "priority"`},
			{string(pack([]byte(`{` + program + `,"grade":{"suite":{"tests":[{"name":"a","weight":2}]}}}`))), `unknown field "weight"`},
		} {
			id := b.submit(job("1"))
			require.NoError(t, b.rdb.Set(b.ctx, b.client.store.keys.body(id), tt.body, 0).Err())
			wants[id] = tt.want
		}
		b.start(echoRunner{}, func(o *WorkerOptions) { o.MaxAttempts = 1 })
		for id, want := range wants {
			record := b.await(id)
			require.Equal(t, sandbox.OutcomeInfraError, record.Result.Outcome, want)
			require.Contains(t, record.Attempts[0].Error, "decode body of job "+id)
			require.Contains(t, record.Attempts[0].Error, want)
			_, _, err := b.client.DeadLetter(b.ctx, id)
			require.ErrorContains(t, err, want)
		}
	})
}

// Somebody wrote to Redis what no Client would have sent.
func TestJobThatIsNotValidNeverReachesTheRunner(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		wants := map[string]string{}
		for body, want := range map[string]string{
			`{"program":{"language":"python","source":"1"},"tenant":"a\nlevel=ERROR"}`:             `tenant: "a\nlevel=ERROR" holds the unprintable character U+000A`,
			`{"program":{"language":"python","source":"1","reuse":"a/b"}}`:                         `program.reuse: "a/b": want up to 128 letters, digits, '-', '_' and '.'`,
			`{"program":{"language":"python","source":"1","files":[{"path":"../up","data":"x"}]}}`: `program: `,
		} {
			id := b.submit(job("1"))
			require.NoError(t, b.rdb.Set(b.ctx, b.client.store.keys.body(id), pack([]byte(body)), 0).Err())
			wants[id] = want
		}
		runner := newFakeRunner()
		b.start(runner)
		for id, want := range wants {
			record := b.await(id)
			require.Equal(t, sandbox.OutcomeRejected, record.Result.Outcome, want)
			require.Contains(t, record.Result.Message, want)
		}
		require.Empty(t, runner.runs)
	})
}

func TestTaskThatIsNotAJobDoesNotHoldASlot(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		for i, payload := range []string{"", "{}", `{"id":"}{"}`, "null"} {
			_, err := b.client.store.tasks.Enqueue(asynq.NewTask(taskType, []byte(payload)), asynq.Queue("sandloop:default"), asynq.TaskID(fmt.Sprint(i)))
			require.NoError(t, err)
		}
		_, err := b.client.store.tasks.Enqueue(asynq.NewTask("other", []byte(`{"id":"a","dispatch":1}`)), asynq.Queue("sandloop:default"))
		require.NoError(t, err)
		b.start(echoRunner{}, func(o *WorkerOptions) { o.Concurrency = 1 })
		b.await(b.submit(job("1")))
	})
}

// ghost is a worker that took a job and does nothing more: it has no heartbeat.
func (b *bundle) ghost(id string) (*Worker, *attempt) {
	b.t.Helper()
	ghost, err := NewWorker(WorkerOptions{ID: "ghost", Redis: b.rdb, Runner: echoRunner{}})
	require.NoError(b.t, err)
	a := &attempt{ref: ref{ID: id, Dispatch: 1}, token: newToken()}
	begun, err := ghost.begin(b.ctx, a.ref, a.token)
	require.NoError(b.t, err)
	require.Equal(b.t, "run", begun.verdict)
	a.number, a.started = begun.attempt, begun.started
	return ghost, a
}

func TestTheFirstResultWins(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		ghost, a := b.ghost(id)
		for range 2 { // the second is the first one sent again after its reply was lost
			stored, err := ghost.finish(b.ctx, a, sandbox.OutcomeOK, packResult(okResult("first")))
			require.NoError(t, err)
			require.True(t, stored)
		}
		late := &attempt{ref: a.ref, token: newToken(), number: 2, started: time.Now()}
		stored, err := ghost.finish(b.ctx, late, sandbox.OutcomeOK, packResult(okResult("second")))
		require.NoError(t, err)
		require.False(t, stored)
		reply, err := ghost.release(b.ctx, late, releaseFailed, "x")
		require.NoError(t, err)
		require.Equal(t, []string{"lost"}, reply)
		record := b.await(id)
		require.Equal(t, "first", string(record.Result.Stdout.Data))
		require.Len(t, record.Attempts, 1)
	})
}

func TestAStaleAttemptWritesNothing(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		ghost, stale := b.ghost(id)
		runner := newFakeRunner()
		b.start(runner)
		r := receive(t, runner.runs)
		require.Equal(t, 2, r.program.Attempt, "the ghost's was the first")
		before, err := b.rdb.HGetAll(b.ctx, "sandloop:{"+id+"}:state").Result()
		require.NoError(t, err)
		stored, err := ghost.finish(b.ctx, stale, sandbox.OutcomeOK, packResult(okResult("stale")))
		require.NoError(t, err)
		require.False(t, stored)
		reply, err := ghost.release(b.ctx, stale, releaseShutdown, "x")
		require.NoError(t, err)
		require.Equal(t, []string{"lost"}, reply)
		again, err := ghost.begin(b.ctx, stale.ref, newToken())
		require.NoError(t, err)
		require.Equal(t, "stale", again.verdict, "its task is of an older dispatch")
		after, err := b.rdb.HGetAll(b.ctx, "sandloop:{"+id+"}:state").Result()
		require.NoError(t, err)
		require.Equal(t, before, after)
		r.succeed("right")
		require.Equal(t, "right", string(b.await(id).Result.Stdout.Data))
	})
}

// Each script can be sent again after its reply was lost.
func TestScriptsSentTwiceReplyTheSame(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		ghost, a := b.ghost(id)
		again, err := ghost.begin(b.ctx, a.ref, a.token)
		require.NoError(t, err)
		require.Equal(t, 1, again.attempt, "it is no new attempt")
		for range 2 {
			reply, err := ghost.release(b.ctx, a, releaseShutdown, "x")
			require.NoError(t, err)
			require.Equal(t, []string{"queued", "2"}, reply)
		}
		second := &attempt{ref: ref{ID: id, Dispatch: 2}, token: newToken()}
		_, err = ghost.begin(b.ctx, second.ref, second.token)
		require.NoError(t, err)
		for range 2 {
			reply, err := ghost.release(b.ctx, second, releaseFailed, "y")
			require.NoError(t, err)
			require.Equal(t, []string{"queued", "2"}, reply)
		}
		failures, err := b.rdb.HGet(b.ctx, "sandloop:{"+id+"}:state", "failures").Result()
		require.NoError(t, err)
		require.Equal(t, "1", failures)
	})
}

func TestInteractiveJobsDoNotWaitForABatch(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner, func(o *WorkerOptions) { o.Concurrency, o.InteractiveSlots = 2, 1 })
		var batch []*run
		for range 3 {
			j := job("batch")
			j.Queue = Batch
			b.submit(j)
		}
		for range 2 {
			batch = append(batch, receive(t, runner.runs))
		}
		urgent := job("urgent")
		urgent.Queue = Interactive
		id := b.submit(urgent)
		r := receive(t, runner.runs)
		require.Equal(t, "urgent", string(r.program.Source), "the third batch job has no slot")
		r.succeed("now")
		require.Equal(t, "now", string(b.await(id).Result.Stdout.Data))
		require.Empty(t, runner.runs)
		for _, r := range batch {
			r.succeed("")
		}
		receive(t, runner.runs).succeed("")
	})
}

func TestConcurrencyIsTheLimit(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		w := b.start(runner, func(o *WorkerOptions) { o.Concurrency = 3 })
		for range 10 {
			b.submit(job("1"))
		}
		running := []*run{receive(t, runner.runs), receive(t, runner.runs), receive(t, runner.runs)}
		for started := 4; started <= 10; started++ {
			require.Empty(t, runner.runs)
			require.Len(t, w.snapshot(), 3)
			running[0].succeed("")
			running = append(running[1:], receive(t, runner.runs))
		}
		for _, r := range running {
			r.succeed("")
		}
		eventually(t, func() bool { return w.Counters().Finished.Load() == 10 }, "all done")
	})
}

func TestNewWorkerRefuses(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	for want, alter := range map[string]func(*WorkerOptions){
		"redis and runner":     func(o *WorkerOptions) { o.Runner = nil },
		"id: ":                 func(o *WorkerOptions) { o.ID = "a:b" },
		"slots: -1":            func(o *WorkerOptions) { o.Concurrency = -1 },
		"slots: 1 and 5000":    func(o *WorkerOptions) { o.InteractiveSlots = 5000 },
		`weights: "urgent"`:    func(o *WorkerOptions) { o.Weights = map[Queue]int{"urgent": 1} },
		`weights: "batch"`:     func(o *WorkerOptions) { o.Weights = map[Queue]int{Batch: 0} },
		"grace and attempts":   func(o *WorkerOptions) { o.Grace = -1 },
		"host and reap period": func(o *WorkerOptions) { o.Reap = func(context.Context) error { return nil } },
	} {
		options := WorkerOptions{Redis: b.rdb, Runner: echoRunner{}}
		alter(&options)
		_, err := NewWorker(options)
		require.ErrorContains(t, err, want)
	}
}

func TestTwoLiveWorkersCannotHaveOneID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	named := func(o *WorkerOptions) { o.ID = "same" }
	b.start(echoRunner{}, named)
	eventually(t, func() bool { alive, err := b.client.WorkerAlive(b.ctx, "same"); return err == nil && alive["same"] }, "first is up")
	second := b.start(echoRunner{}, named)
	receive(t, second.ended)
	require.ErrorIs(t, second.err, ErrWorkerIDInUse)
	require.NoError(t, b.rdb.Get(b.ctx, "sandloop:worker:same").Err(), "the first one keeps its heartbeat")
}
