package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// die makes the waiting job a dead letter, as a worker does that cannot run it.
func (b *bundle) die(id, problem string) {
	b.t.Helper()
	w, err := NewWorker(WorkerOptions{ID: "undertaker", Redis: b.rdb, Runner: echoRunner{}})
	require.NoError(b.t, err)
	dispatch, err := b.rdb.HGet(b.ctx, b.client.store.keys.state(id), fieldDispatch).Result()
	require.NoError(b.t, err)
	a := &attempt{ref: ref{ID: id}.renewed(dispatch), token: newToken()}
	begun, err := w.begin(b.ctx, a.ref, a.token)
	require.NoError(b.t, err)
	require.Equal(b.t, "run", begun.verdict)
	a.number, a.started = begun.attempt, begun.started
	reply, err := w.release(b.ctx, a, releaseHopeless, problem)
	require.NoError(b.t, err)
	require.Equal(b.t, []string{"done", "infra_error"}, reply)
	w.bury(b.ctx, begun.queue, id)
	w.forget(b.ctx, a.ref)
}

func (b *bundle) dead(filter DeadFilter) (letters []DeadLetter) {
	b.t.Helper()
	for letter, err := range b.client.DeadLetters(b.ctx, filter) {
		require.NoError(b.t, err)
		letters = append(letters, letter)
	}
	return letters
}

func (b *bundle) deadIDs(filter DeadFilter) (ids []string) {
	b.t.Helper()
	for _, letter := range b.dead(filter) {
		ids = append(ids, letter.ID)
	}
	return ids
}

func TestADeadLetterRunsAgainUnderItsID(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		runner := newFakeRunner()
		b.start(runner, func(o *WorkerOptions) { o.MaxAttempts = 2 })
		before := time.Now()
		id := b.submit(job("1"))
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
		receive(t, runner.runs).answer <- answer{err: errors.New("still no daemon")}
		require.Equal(t, sandbox.OutcomeInfraError, b.await(id).Result.Outcome)
		eventually(t, func() bool { return len(b.dead(DeadFilter{})) == 1 }, "it is listed")

		letter := b.dead(DeadFilter{})[0]
		require.Equal(t, id, letter.ID)
		require.Equal(t, "alice", letter.Tenant)
		require.Equal(t, Default, letter.Queue)
		require.Equal(t, "python", letter.Language)
		require.Equal(t, "still no daemon", letter.Error)
		require.Len(t, letter.Attempts, 2)
		require.Empty(t, letter.RetriedAt)
		require.WithinRange(t, letter.DiedAt, before, time.Now())
		shown, job, err := b.client.DeadLetter(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, letter, shown)
		require.Equal(t, id, job.ID)
		require.Equal(t, "1", string(job.Program.Source))
		require.Equal(t, letter.SubmittedAt, job.SubmittedAt)

		require.NoError(t, b.client.RetryDead(b.ctx, id))
		waited := make(chan Record, 1)
		go func() { record, _ := b.client.Await(b.ctx, id); waited <- record }()
		r := receive(t, runner.runs)
		require.Equal(t, 3, r.program.Attempt)
		require.Equal(t, id, r.program.ID)
		require.Contains(t, runner.killed, id+"<3")
		require.Empty(t, b.dead(DeadFilter{}), "what runs is not dead")
		r.answer <- answer{err: errors.New("a hiccup")} // one of two attempts that it has anew
		r = receive(t, runner.runs)
		require.Equal(t, 4, r.program.Attempt)
		r.succeed("at last")
		record := receive(t, waited)
		require.Equal(t, "at last", string(record.Result.Stdout.Data))
		var problems []string
		for _, a := range record.Attempts {
			problems = append(problems, a.Error)
		}
		require.Equal(t, []string{"no daemon", "still no daemon", "a hiccup", ""}, problems)
		require.Len(t, record.RetriedAt, 1)
		require.WithinRange(t, record.RetriedAt[0], letter.DiedAt, record.FinishedAt)
		status, err := b.client.Status(b.ctx, id)
		require.NoError(t, err)
		require.Equal(t, record.RetriedAt, status.RetriedAt)
		require.Empty(t, b.dead(DeadFilter{}))
		require.ErrorIs(t, b.client.RetryDead(b.ctx, id), ErrNotDead)
		require.Equal(t, record, b.await(id), "a refused retry changes nothing")
	})
}

func TestDeadLettersAreFilteredAndTheLatestComesFirst(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		var ids []string
		for i, j := range []Job{
			{Tenant: "alice", Queue: Batch}, {Tenant: "bob", Queue: Interactive}, {Queue: Batch}, {Tenant: "alice", Queue: Default},
		} {
			j.Program = sandbox.Program{Language: "node", Source: sandbox.Bytes{byte('0' + i)}}
			ids = append(ids, b.submit(j))
			b.die(ids[i], "no daemon")
			// Deaths within a millisecond have no order.
			require.NoError(t, b.rdb.ZIncrBy(b.ctx, "sandloop:dead:"+string(j.Queue), float64(10*i), ids[i]).Err())
		}
		alice, nobody, stranger := "alice", "", "eve"
		require.Equal(t, []string{ids[3], ids[2], ids[1], ids[0]}, b.deadIDs(DeadFilter{}))
		require.Equal(t, []string{ids[2], ids[0]}, b.deadIDs(DeadFilter{Queue: Batch}))
		require.Equal(t, []string{ids[3], ids[0]}, b.deadIDs(DeadFilter{Tenant: &alice}))
		require.Equal(t, []string{ids[0]}, b.deadIDs(DeadFilter{Tenant: &alice, Queue: Batch}))
		require.Equal(t, []string{ids[2]}, b.deadIDs(DeadFilter{Tenant: &nobody}))
		require.Empty(t, b.deadIDs(DeadFilter{Tenant: &stranger}))
		for letter, err := range b.client.DeadLetters(b.ctx, DeadFilter{}) {
			require.NoError(t, err)
			require.Equal(t, ids[3], letter.ID)
			break
		}
		require.NoError(t, b.rdb.Del(b.ctx, b.client.store.keys.job(ids[3])...).Err()) // its retention is over
		require.Equal(t, []string{ids[2], ids[1], ids[0]}, b.deadIDs(DeadFilter{}))
		canceled, cancel := context.WithCancel(b.ctx)
		cancel()
		for _, err := range b.client.DeadLetters(canceled, DeadFilter{}) {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}

func TestMoreDeadLettersThanOneRoundTripReads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for range 2*deadChunk + 1 {
		want = append(want, b.submit(job("1")))
		b.die(want[len(want)-1], "no daemon")
	}
	require.ElementsMatch(t, want, b.deadIDs(DeadFilter{}))
}

func TestRetryingTwiceRunsOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.die(id, "no daemon")
		waiting := b.pending()
		for range 3 {
			require.NoError(t, b.client.RetryDead(b.ctx, id))
			require.Equal(t, waiting+1, b.pending())
		}
		runner := newFakeRunner()
		b.start(runner)
		r := receive(t, runner.runs)
		require.NoError(t, b.client.RetryDead(b.ctx, id), "it runs already")
		r.succeed("once")
		record := b.await(id)
		require.Equal(t, "once", string(record.Result.Stdout.Data))
		require.Len(t, record.Attempts, 2)
		require.Len(t, record.RetriedAt, 1)
		eventually(t, func() bool { return b.pending() == 0 }, "no task is left")
		require.Empty(t, runner.runs)
	})
}

// Whoever retried it went away between the script and the task.
func TestARetryThatWasCutOffIsCompleted(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.die(id, "no daemon")
		reply, err := b.client.store.run(b.ctx, retryDeadScript, id, formatTime(time.Now()), durationMillis(queuedRetention))
		require.NoError(t, err)
		require.Equal(t, []string{"again", "queued", "2", "default"}, reply)
		require.Empty(t, b.dead(DeadFilter{}))
		require.NoError(t, b.client.RetryDead(b.ctx, id))
		b.start(echoRunner{})
		require.Len(t, b.await(id).RetriedAt, 1)
		require.Zero(t, b.rdb.ZCard(b.ctx, "sandloop:dead:default").Val())
	})
}

func TestAJobThatDiesAgainIsListedAgain(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.die(id, "no daemon")
		require.NoError(t, b.client.RetryDead(b.ctx, id))
		b.die(id, "no image")
		letter := b.dead(DeadFilter{})[0]
		require.Equal(t, "no image", letter.Error)
		require.Len(t, letter.Attempts, 2)
		require.Len(t, letter.RetriedAt, 1)
		require.NoError(t, b.client.unlist(b.ctx, id, map[Queue]float64{Default: 1}), "of who retried it before")
		require.Equal(t, []string{id}, b.deadIDs(DeadFilter{}))
		require.NoError(t, b.client.RetryDead(b.ctx, id))
		require.Zero(t, b.rdb.ZCard(b.ctx, "sandloop:dead:default").Val())
		b.start(echoRunner{})
		require.Len(t, b.await(id).RetriedAt, 2)
	})
}

func TestOnlyDeadLettersAreRetriedAndDeleted(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		refused := func(id, why string) {
			t.Helper()
			for _, err := range []error{b.client.RetryDead(b.ctx, id), b.client.DeleteDead(b.ctx, id)} {
				require.ErrorIs(t, err, ErrNotDead)
				require.ErrorContains(t, err, why)
			}
			_, _, err := b.client.DeadLetter(b.ctx, id)
			require.ErrorIs(t, err, ErrNotDead)
		}
		id := b.submit(job("1"))
		refused(id, "is queued")
		runner := newFakeRunner()
		b.start(runner)
		r := receive(t, runner.runs)
		refused(id, "is running")
		r.succeed("kept")
		require.Equal(t, "kept", string(b.await(id).Result.Stdout.Data))
		refused(id, "ended with ok")
		require.Equal(t, "kept", string(b.await(id).Result.Stdout.Data))
		for _, unknown := range []string{"nobody", "no name", ""} {
			require.ErrorIs(t, b.client.RetryDead(b.ctx, unknown), ErrNotFound)
			require.ErrorIs(t, b.client.DeleteDead(b.ctx, unknown), ErrNotFound)
			_, _, err := b.client.DeadLetter(b.ctx, unknown)
			require.ErrorIs(t, err, ErrNotFound)
		}
	})
}

func TestADeadLetterWithoutItsProgramIsRefused(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.die(id, "no daemon")
		require.NoError(t, b.rdb.Del(b.ctx, b.client.store.keys.body(id)).Err())
		require.ErrorIs(t, b.client.RetryDead(b.ctx, id), ErrProgramGone)
		require.Equal(t, sandbox.OutcomeInfraError, b.await(id).Result.Outcome, "its result stays")
		require.Empty(t, b.dead(DeadFilter{})[0].Language)
	})
}

func TestADeletedDeadLetterIsGone(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		keyed := job("1")
		keyed.IdempotencyKey = "again"
		id := b.submit(keyed)
		b.die(id, "no daemon")
		require.NoError(t, b.client.DeleteDead(b.ctx, id))
		require.Empty(t, b.dead(DeadFilter{}))
		require.Zero(t, b.rdb.Exists(b.ctx, b.client.store.keys.job(id)...).Val())
		require.Zero(t, b.rdb.ZCard(b.ctx, "sandloop:dead:default").Val())
		_, err := b.client.Result(b.ctx, id)
		require.ErrorIs(t, err, ErrNotFound)
		submission, err := b.client.Submit(b.ctx, keyed)
		require.NoError(t, err)
		require.False(t, submission.Existing, "its key is free")
	})
}

// The reply of what gave the job up was lost, and comes to its worker after the job was retried.
func TestAWorkerThatGaveUpChangesNothingAfterARetry(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		w, err := NewWorker(WorkerOptions{Redis: b.rdb, Runner: echoRunner{}})
		require.NoError(t, err)
		a := &attempt{ref: ref{ID: id, Dispatch: 1}, token: newToken(), number: 1, started: time.Now()}
		_, err = w.begin(b.ctx, a.ref, a.token)
		require.NoError(t, err)
		_, err = w.release(b.ctx, a, releaseHopeless, "no daemon")
		require.NoError(t, err)
		require.NoError(t, b.client.RetryDead(b.ctx, id))
		reply, err := w.release(b.ctx, a, releaseHopeless, "no daemon")
		require.NoError(t, err)
		require.Equal(t, []string{"lost"}, reply)
		b.start(echoRunner{})
		require.Equal(t, sandbox.OutcomeOK, b.await(id).Result.Outcome)
	})
}

// A worker died after it had given the job up and before it listed it.
func TestADeadLetterThatWasNotListedIsListedByRecovery(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		id := b.submit(job("1"))
		b.die(id, "no daemon")
		require.NoError(t, b.rdb.Del(b.ctx, "sandloop:dead:default").Err())
		w, err := NewWorker(WorkerOptions{Redis: b.rdb, Runner: echoRunner{}})
		require.NoError(t, err)
		require.NoError(t, w.recoverJob(b.ctx, id+":1", "undertaker"))
		require.Equal(t, []string{id}, b.deadIDs(DeadFilter{}))
		require.NoError(t, b.client.RetryDead(b.ctx, id))
		require.NoError(t, w.recoverJob(b.ctx, id+":1", "undertaker"))
		require.Empty(t, b.deadIDs(DeadFilter{}))
	})
}

// Who asks for the result at the moment of a retry hears that there is none yet, never that there is no job.
func TestNobodyIsToldThatARetriedJobIsGone(t *testing.T) {
	t.Parallel()
	b := setupMini(t) // it lets others in between the commands of a pipeline, as a Redis does that gets them in pieces
	for range 50 {
		id := b.submit(job("1"))
		b.die(id, "no daemon")
		retried, wrong := make(chan struct{}), make(chan error, 4)
		var readers sync.WaitGroup
		for range cap(wrong) {
			readers.Go(func() {
				for last := false; !last; {
					select {
					case <-retried:
						last = true
					default:
					}
					if _, err := b.client.Result(b.ctx, id); err != nil && !errors.Is(err, ErrNotDone) {
						wrong <- err
						return
					}
				}
			})
		}
		require.NoError(t, b.client.RetryDead(b.ctx, id))
		close(retried)
		readers.Wait()
		close(wrong)
		require.NoError(t, <-wrong)
	}
}

func TestTheLanguageIsReadFromTheBeginningOfABody(t *testing.T) {
	t.Parallel()
	random := make([]byte, 2<<20)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(random)
	for name, source := range map[string][]byte{
		"short": []byte("1"), "compressible": []byte(strings.Repeat("print(1)\n", 1<<20)), "incompressible": random,
	} {
		j := Job{Tenant: "program", IdempotencyKey: `{"language":"c"}`, Program: sandbox.Program{Language: "rust", Source: source}}
		body, _, err := j.prepared(time.Now()).encode()
		require.NoError(t, err)
		packed := pack(body)
		require.Equal(t, "rust", bodyLanguage(string(packed[:min(len(packed), bodyHead)])), name)
	}
	for _, broken := range []string{"", "j", "j{", `j{"tenant":"a"}`, `j{"program":{"language":7}}`, "z", "zzzz", "x{}"} {
		require.Empty(t, bodyLanguage(broken), "%q", broken)
	}
}

func TestTimesAreReadFromAList(t *testing.T) {
	t.Parallel()
	require.Nil(t, parseTimes(""))
	times := parseTimes("1000000000,x,2000000001")
	require.True(t, slices.Equal([]time.Time{time.Unix(1, 0).UTC(), time.Unix(2, 1).UTC()}, times), times)
}
