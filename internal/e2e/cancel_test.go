package e2e_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestARunningJobIsCanceledDownToItsContainer(t *testing.T) {
	c := newCanceling(t)
	c.startWorker(t)
	states := endless()
	if testenv.Runtime() == "runsc" {
		delete(states, "compiling") // docker top, which sees the compiler, sees nothing of it
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		took := c.cancel(states[name](c))
		t.Logf("%s: canceled after %s, container gone after %s", name, took.result.Round(time.Millisecond), took.gone.Round(time.Millisecond))
		require.Len(t, took.record.Attempts, 1, name)
	}
	require.Empty(t, containers(t, labels.Installation+"="+c.redis.Get(t.Context(), "sandloop:installation").Val()))
}

func TestAJobIsCanceledWhileItsContainerStarts(t *testing.T) {
	c := newCanceling(t)
	c.startWorker(t)
	for _, action := range []string{"create", "attach", "start"} {
		for range 2 {
			id := c.submit("import time\ntime.sleep(600)", plain)
			c.awaitAction(id, action)
			took := c.cancel(id)
			t.Logf("%s: canceled after %s, container gone after %s", action, took.result.Round(time.Millisecond), took.gone.Round(time.Millisecond))
		}
	}
	for pause := range 8 { // wherever this is: before the container is there, mostly
		id := c.submit("import time\ntime.sleep(600)", plain)
		require.Eventually(t, func() bool { return c.status(t, id).State != "queued" }, bound, time.Millisecond)
		<-time.After(time.Duration(pause) * 20 * time.Millisecond)
		_, err := c.client.Cancel(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, sandbox.OutcomeCanceled, c.await(id).Result.Outcome)
		c.requireOneEnd(id)
	}
}

func TestAWaitingJobIsCanceledAtOnceAndNeverRuns(t *testing.T) {
	c := newCanceling(t)
	var ids []string
	for range 20 {
		ids = append(ids, c.submit("print('it ran')", plain))
	}
	for _, id := range ids {
		status, err := c.client.Cancel(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []any{jobs.Done, sandbox.OutcomeCanceled}, []any{status.State, status.Outcome})
		require.Empty(t, c.await(id).Attempts)
		c.requireOneEnd(id)
	}
	c.startWorker(t)
	last := c.submit("print('the last')", plain)
	require.Equal(t, "the last\n", string(c.await(last).Result.Stdout.Data))
	for _, id := range ids {
		require.Zero(t, c.events.when(id, "create"))
	}
}

// Whoever is first wins, and nobody sees both.
func TestACancelWhileTheResultIsWritten(t *testing.T) {
	c := newCanceling(t)
	c.startWorker(t)
	outcomes := map[sandbox.Outcome]int{}
	for round := range 8 {
		// The files take a while on their way from the container into Redis.
		id := c.submit("import os, time\nprint('on', flush=True)\nfor n in range(8): open(f'out{n}', 'wb').write(os.urandom(1 << 14))\ntime.sleep(0.05)", plain, followed,
			func(job *jobs.Job) { job.Program.Outputs = []string{"out*"} })
		c.awaitOutput(id)
		<-time.After(time.Duration(round) * 15 * time.Millisecond)
		took := c.cancelAnyhow(id)
		outcome := took.record.Result.Outcome
		outcomes[outcome]++
		require.Contains(t, []sandbox.Outcome{sandbox.OutcomeOK, sandbox.OutcomeCanceled}, outcome, took.record.Result.Message)
		if outcome == sandbox.OutcomeOK {
			require.Len(t, took.record.Result.Files, 8, "a result is whole")
		}
	}
	t.Logf("outcomes: %v", outcomes)
}

func TestACancelAfterTheEndChangesNothing(t *testing.T) {
	c := newCanceling(t)
	c.startWorker(t)
	id := c.submit("print('done')", plain)
	require.Equal(t, sandbox.OutcomeOK, c.await(id).Result.Outcome)
	c.requireOneEnd(id)
	require.Equal(t, sandbox.OutcomeOK, c.await(id).Result.Outcome)
	got := c.enqueue(t, "cancel", id, id)
	require.Equal(t, 0, got.code, got.stderr)
}

func TestManyCancelAtOnce(t *testing.T) {
	c := newCanceling(t)
	c.startWorker(t)
	id := endless()["sleeping"](c)
	errs := make(chan error, 16)
	for range cap(errs) {
		go func() {
			_, err := c.client.Cancel(t.Context(), id)
			errs <- err
		}()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	c.cancel(id)
}

func TestALiveCellAndAForwardedOneAreCanceled(t *testing.T) {
	c := newCanceling(t)
	// The one slot of the holder is taken, so that every call reaches it through the other worker.
	holder := c.startWorker(t, "SANDLOOP_WORKER_CONCURRENCY=1", "SANDLOOP_SESSIONS_LIVE=1")
	holderID := c.workerID(t, holder.process.Process.Pid)
	c.call("x = 1")
	blocker := c.submit("import time; time.sleep(600)", plain)
	require.Eventually(t, func() bool { return c.status(t, blocker).Worker == holderID }, bound, 20*time.Millisecond)
	c.startWorker(t)
	cell := c.submit("import time\nprint('on', flush=True)\nx = 2\nwhile True: time.sleep(0.1)", inInterpreter, followed)
	c.awaitOutput(cell)
	require.Equal(t, holderID, c.status(t, cell).Worker, "it was forwarded")

	waiting := c.submit("x = 3", inInterpreter) // for the interpreter, in one queue or the other
	_, err := c.client.Cancel(t.Context(), waiting)
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, c.await(waiting).Result.Outcome)
	c.requireOneEnd(waiting)

	begun := time.Now()
	_, err = c.client.Cancel(t.Context(), cell)
	require.NoError(t, err)
	record := c.await(cell)
	t.Logf("live: canceled after %s", time.Since(begun).Round(time.Millisecond))
	require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
	require.Equal(t, "on\n", string(record.Result.Stdout.Data))
	c.requireOneEnd(cell)
	value, report := c.call("x")
	require.Equal(t, "2", value, "the interpreter lives, and the one that waited has not run")
	require.False(t, report.Started)
	c.cancel(blocker)
}

// Nobody but another worker on the same daemon can end what a frozen one runs.
func TestTheJobOfAFrozenWorkerIsCanceled(t *testing.T) {
	c := newCanceling(t)
	frozen := c.startWorker(t)
	frozenID := c.workerID(t, frozen.process.Process.Pid)
	id := endless()["sleeping"](c)
	other := c.startWorker(t)
	require.NoError(t, frozen.process.Process.Signal(syscall.SIGSTOP))
	thaw := func() { _ = frozen.process.Process.Signal(syscall.SIGCONT) }
	t.Cleanup(thaw)
	took := c.cancel(id) // waits for the container, too
	t.Logf("frozen: canceled after %s, container gone after %s", took.result.Round(time.Millisecond), took.gone.Round(time.Millisecond))
	require.Equal(t, frozenID, took.record.Attempts[0].Worker)
	require.Equal(t, "worker lost", took.record.Attempts[0].Error)
	thaw()
	require.Eventually(t, func() bool { return strings.Contains(frozen.log.String(), "another attempt owns the job") }, bound, 20*time.Millisecond)
	require.Equal(t, took.record, c.await(id), "the thawed one has written nothing")
	c.requireOneEnd(id)
	require.NotContains(t, other.log.String(), "job recovered")
	next := c.submit("print('well')", plain)
	require.Equal(t, "well\n", string(c.await(next).Result.Stdout.Data))
}

// A worker whose subscription was cut at that moment hears of a cancel when it has a new one.
func TestACancelReachesAWorkerThatWasNotListening(t *testing.T) {
	c := newCanceling(t)
	c.startWorker(t)
	var took []time.Duration
	for range 3 {
		id := endless()["sleeping"](c)
		c.cutSubscription()
		took = append(took, c.cancel(id).gone)
	}
	t.Logf("without a subscription: container gone after %v", took)
}

// cutSubscription cuts the connection over which the worker hears. It is the one with the most channels.
func (c *canceling) cutSubscription() {
	c.t.Helper()
	list, err := c.redis.Do(c.t.Context(), "CLIENT", "LIST", "TYPE", "pubsub").Text()
	require.NoError(c.t, err)
	cut := 0
	for line := range strings.Lines(list) {
		var id, channels string
		for _, field := range strings.Fields(line) {
			switch name, value, _ := strings.Cut(field, "="); name {
			case "id":
				id = value
			case "sub":
				channels = value
			}
		}
		if count, err := strconv.Atoi(channels); err == nil && count >= 4 { // its cancels and three queues
			require.NoError(c.t, c.redis.ClientKillByFilter(c.t.Context(), "ID", id).Err())
			cut++
		}
	}
	require.Equal(c.t, 1, cut, list)
}

// BenchmarkCancel reports in milliseconds how long it takes from the call of Cancel until the result is there and until
// the daemon has removed the container. It is meant to be run with -benchtime=20x or more.
func BenchmarkCancel(b *testing.B) {
	c := newCanceling(b)
	c.startWorker(b)
	states := endless()
	for _, action := range []string{"create", "start"} {
		states["container before "+action] = func(c *canceling) string {
			id := c.submit("import time\ntime.sleep(600)", plain)
			c.awaitAction(id, action)
			return id
		}
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			var results, gone []time.Duration
			of := *c.sessions
			of.t = b
			c := &canceling{&of, c.events, c.ends}
			for b.Loop() {
				took := c.cancel(states[name](c))
				results, gone = append(results, took.result), append(gone, took.gone)
			}
			for unit, value := range map[string]time.Duration{
				"result-p50-ms": middle(results), "result-max-ms": most(results), "gone-p50-ms": middle(gone), "gone-max-ms": most(gone),
			} {
				b.ReportMetric(float64(value.Milliseconds()), unit)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
