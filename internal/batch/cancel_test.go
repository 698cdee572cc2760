package batch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// byID tells verdicts and messages of the lines of a results file, the last of each entry.
func byID(t *testing.T, path string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, item := range inFile(t, path) {
		said[item.ID] = string(item.Verdict)
		if item.Verdict == grade.IE {
			said[item.ID] += ": " + item.Message
		}
	}
	return said
}

func TestACanceledBatchEndsSaysWhatWasCanceledAndGoesOnInTheNextRun(t *testing.T) {
	t.Parallel()
	queue, got, path := newFakeQueue().manual(), &collected{}, resultsPath(t)
	options := quick(got)
	options.Window, options.WatchEvery = 4, bound // the canceled jobs alone tell it
	options.Results = openResults(t, path)
	name := options.Results.Name()
	require.NotEmpty(t, name)
	known, err := NameOf(path)
	require.NoError(t, err)
	require.Equal(t, name, known)
	wait := start(t.Context(), t, queue, entries(10), options)
	eventually(t, func() bool { return len(queue.times()) == 4 }, "the window is full")
	queue.end("item-1", verdict(grade.AC))
	eventually(t, func() bool { return len(queue.times()) == 5 && len(got.ids()) == 1 }, "another one is submitted")
	queue.cancelBatch()
	counts, err := wait()
	require.ErrorIs(t, err, ErrCanceled)
	require.Equal(t, Counts{Submitted: 5, Finished: 1, Canceled: 4, Verdicts: map[grade.Verdict]int{grade.AC: 1}}, counts)
	const canceled = "IE: the batch was canceled before the item was judged"
	require.Equal(t, map[string]string{"item-0": canceled, "item-1": "AC", "item-2": canceled, "item-3": canceled, "item-4": canceled}, byID(t, path))
	require.Empty(t, queue.left())
	renamed, err := NameOf(path)
	require.NoError(t, err)
	require.NotContains(t, []string{"", name}, renamed)
	require.NoError(t, options.Results.Close())

	queue.judge = newFakeQueue().judge
	options.Results = openResults(t, path)
	counts, err = Run(t.Context(), queue, entries(10), options)
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 10}, counts.Verdicts)
	require.Equal(t, 1, counts.Skipped)
	for id, said := range byID(t, path) {
		require.Equal(t, "AC", said, id)
	}
	require.Equal(t, 1, queue.times()["item-1"])
	ended, err := NameOf(path)
	require.NoError(t, err)
	require.Empty(t, ended)
}

// Nothing of it is in the queue, since Redis takes no jobs.
func TestACanceledBatchEndsThoughNoJobTellsIt(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]bool{"while it submits": true, "while it waits": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue, options, refused := newFakeQueue().manual(), quick(&collected{}), atomic.Bool{}
			if refuses {
				queue.refuse = func(jobs.Job) error { refused.Store(true); return errors.New("full") }
			}
			wait := start(t.Context(), t, queue, entries(3), options)
			eventually(t, func() bool { return refused.Load() || len(queue.times()) == 3 }, "it is under way")
			queue.mu.Lock()
			queue.revoked = true
			queue.mu.Unlock()
			counts, err := wait()
			require.ErrorIs(t, err, ErrCanceled)
			require.Zero(t, counts.Outstanding())
			require.Zero(t, counts.Finished)
			if !refuses {
				require.Equal(t, 3, counts.Canceled)
			}
			require.Equal(t, 1, queue.revokes, "who submits cancels what the other did not see")
		})
	}
}

// The producer was killed, and the batch canceled by someone who has no results file.
func TestABatchThatWasCanceledWhileNobodyRanItGoesOn(t *testing.T) {
	t.Parallel()
	queue, path := newFakeQueue().manual(), resultsPath(t)
	options := quick(&collected{})
	options.Results = openResults(t, path)
	ctx, interrupt := context.WithCancel(t.Context())
	wait := start(ctx, t, queue, entries(5), options)
	eventually(t, func() bool { return len(queue.times()) == 5 }, "all are submitted")
	interrupt()
	_, err := wait()
	require.ErrorIs(t, err, context.Canceled)
	require.ElementsMatch(t, ids(5), queue.left(), "what goes on can be canceled")
	require.NoError(t, options.Results.Close())
	queue.end("item-2", verdict(grade.WA))
	for range 2 { // it is canceled and goes on twice
		queue.cancelBatch()
		queue.mu.Lock()
		for _, job := range queue.jobs {
			require.True(t, isClosed(job.done))
		}
		queue.mu.Unlock()
		options.Results = openResults(t, path)
		ctx, interrupt := context.WithCancel(t.Context())
		before := total(queue.times())
		wait := start(ctx, t, queue, entries(5), options)
		eventually(t, func() bool { return total(queue.times()) == before+4 && len(inFile(t, path)) == 1 }, "what was canceled is submitted anew")
		interrupt()
		_, err := wait()
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, options.Results.Close())
	}
	require.Equal(t, map[string]string{"item-2": "WA"}, byID(t, path), "which had ended before")

	options.Results = openResults(t, path)
	wait = start(t.Context(), t, queue, entries(5), options)
	for _, i := range []int{0, 1, 3, 4} {
		queue.end(entry(i).ID, verdict(grade.AC))
	}
	counts, err := wait()
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 4, grade.WA: 1}, counts.Verdicts)
	require.Equal(t, map[string]int{"item-0": 3, "item-1": 3, "item-2": 1, "item-3": 3, "item-4": 3}, queue.times())
	require.Empty(t, queue.left())
}

func total(times map[string]int) (sum int) {
	for _, n := range times {
		sum += n
	}
	return sum
}

func TestASingleCanceledJobIsNoCanceledBatch(t *testing.T) {
	t.Parallel()
	queue, path := newFakeQueue().manual(), resultsPath(t)
	options := quick(&collected{})
	options.Results = openResults(t, path)
	wait := start(t.Context(), t, queue, entries(2), options)
	eventually(t, func() bool { return len(queue.times()) == 2 }, "both are submitted")
	queue.end("item-0", outcome(sandbox.OutcomeCanceled))
	queue.end("item-1", verdict(grade.AC))
	counts, err := wait()
	require.NoError(t, err)
	require.Equal(t, Counts{Submitted: 2, Finished: 2, Verdicts: map[grade.Verdict]int{grade.AC: 1, grade.IE: 1}}, counts)
	require.Equal(t, map[string]string{"item-0": "IE: because of canceled", "item-1": "AC"}, byID(t, path))
}

func TestNameOfSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	path := resultsPath(t)
	_, err := NameOf(path)
	require.ErrorContains(t, err, "no such file")
	results := openResults(t, path)
	require.NoError(t, writeDurably(statePath(path), []byte("{")))
	_, err = NameOf(path)
	require.ErrorContains(t, err, ".state: ")
	require.NoError(t, results.Close())
}

// On a real Redis with a worker that has not enough slots.
func TestABatchIsCanceledFromElsewhere(t *testing.T) {
	t.Parallel()
	redis := testenv.StartRedis(t)
	path := resultsPath(t)
	results := openResults(t, path)
	options := quick(&collected{})
	options.Results, options.WatchEvery = results, 100*time.Millisecond
	producer, other := newClient(t, redis.Addr), newClient(t, redis.Addr)
	wait := start(t.Context(), t, producer, entries(500), options)
	eventually(t, func() bool {
		stats, err := other.Stats(t.Context())
		return err == nil && stats.Queues[2].Pending == 500
	}, "all wait, since there is no worker")
	found, err := other.CancelBatch(t.Context(), results.Name())
	require.NoError(t, err)
	counts, err := wait()
	require.ErrorIs(t, err, ErrCanceled)
	require.Equal(t, 500, counts.Canceled)
	require.Equal(t, 500, found.Queued+found.Done, "%+v", found) // the producer cancels, too
	require.Len(t, byID(t, path), 500)
	require.NoError(t, results.Close())

	judge := work(t, redis.Addr)
	counts, err = runWith(t.Context(), t, producer, path, 500)
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 500}, counts.Verdicts)
	judge.mu.Lock()
	defer judge.mu.Unlock()
	require.Equal(t, once(500), judge.times)
}
