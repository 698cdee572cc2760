package batch

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// startWith starts n entries with the results file at path, which is closed when the run was waited for.
func startWith(ctx context.Context, t *testing.T, queue Client, path string, n int, change ...func(*Options)) func() (Counts, error) {
	t.Helper()
	results, err := OpenResults(path, false)
	require.NoError(t, err)
	options := quick(&collected{})
	options.Results = results
	for _, c := range change {
		c(&options)
	}
	wait := start(ctx, t, queue, entries(n), options)
	return func() (Counts, error) {
		t.Helper()
		counts, err := wait()
		require.NoError(t, results.Close())
		return counts, err
	}
}

// runWith is startWith to its end.
func runWith(ctx context.Context, t *testing.T, queue Client, path string, n int, change ...func(*Options)) (Counts, error) {
	t.Helper()
	return startWith(ctx, t, queue, path, n, change...)()
}

// inFile lists the items of a results file.
func inFile(t *testing.T, path string) (items []report.Item) {
	t.Helper()
	for item, err := range report.ReadFile(path) {
		require.NoError(t, err)
		items = append(items, item)
	}
	return items
}

func TestAnInterruptedBatchGoesOnAndNothingIsJudgedTwice(t *testing.T) {
	t.Parallel()
	path, queue := resultsPath(t), newFakeQueue().manual()
	ctx, interrupt := context.WithCancel(t.Context())
	done := 0
	wait := startWith(ctx, t, queue, path, 6, func(o *Options) {
		o.Window = 4
		o.Done = func(report.Item) error {
			if done++; done == 2 {
				interrupt()
			}
			return nil
		}
	})
	eventually(t, func() bool { return len(queue.times()) == 4 }, "the window is full")
	queue.end("item-0", verdict(grade.AC))
	queue.end("item-2", verdict(grade.WA))
	counts, err := wait()
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, counts.Finished)
	queue.mu.Lock()
	queue.judge = func(jobs.Job) (jobs.Record, bool) { return verdict(grade.AC), true }
	queue.mu.Unlock()
	for source, n := range queue.times() { // what was in flight ended while nobody looked
		if !slices.Contains([]string{"item-0", "item-2"}, source) {
			require.Equal(t, 1, n)
			queue.end(source, verdict(grade.TLE))
		}
	}
	before := len(queue.times())
	counts, err = runWith(t.Context(), t, queue, path, 6)
	require.NoError(t, err)
	require.Equal(t, 2, counts.Skipped)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 1 + 6 - before, grade.WA: 1, grade.TLE: before - 2}, counts.Verdicts)
	require.Equal(t, once(6), queue.times())
	got := []string{}
	for _, item := range inFile(t, path) {
		got = append(got, item.ID)
	}
	require.ElementsMatch(t, ids(6), got)
	require.NoFileExists(t, path+".state")
}

func TestACompleteBatchIsNotRunAgain(t *testing.T) {
	t.Parallel()
	path, queue := resultsPath(t), newFakeQueue()
	for _, skipped := range []int{0, 5, 5} {
		counts, err := runWith(t.Context(), t, queue, path, 5)
		require.NoError(t, err)
		require.Equal(t, skipped, counts.Skipped)
		require.Equal(t, map[grade.Verdict]int{grade.AC: 5}, counts.Verdicts)
	}
	require.Equal(t, once(5), queue.times())
	counts, err := runWith(t.Context(), t, queue, path, 7)
	require.NoError(t, err, "a batch may have grown")
	require.Equal(t, 5, counts.Skipped)
	require.Equal(t, once(7), queue.times())
}

func TestFreshJudgesAllAnew(t *testing.T) {
	t.Parallel()
	path, queue := resultsPath(t), newFakeQueue()
	_, err := runWith(t.Context(), t, queue, path, 3)
	require.NoError(t, err)
	results, err := OpenResults(path, true)
	require.NoError(t, err)
	require.NoError(t, results.Close())
	_, err = runWith(t.Context(), t, queue, path, 3)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"item-0": 2, "item-1": 2, "item-2": 2}, queue.times())
	require.Len(t, inFile(t, path), 3)
}

func TestWhatCouldNotBeJudgedIsTriedAgainInTheSameAndInTheNextRun(t *testing.T) {
	t.Parallel()
	for name, complete := range map[string]bool{"after the end of the batch": true, "after an interruption": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, queue := resultsPath(t), newFakeQueue().manual()
			ctx, interrupt := context.WithCancel(t.Context())
			wait := startWith(ctx, t, queue, path, 2)
			eventually(t, func() bool { return len(queue.times()) == 2 }, "both are submitted")
			queue.end("item-0", outcome(sandbox.OutcomeInfraError))
			if complete {
				queue.end("item-1", verdict(grade.AC))
				_, err := wait()
				require.NoError(t, err)
			} else {
				eventually(t, func() bool { return len(inFile(t, path)) == 1 }, "the failure is written")
				interrupt()
				_, err := wait()
				require.ErrorIs(t, err, context.Canceled)
			}
			interrupt()
			for _, item := range inFile(t, path) {
				require.Equal(t, item.ID == "item-0", item.Verdict == grade.IE)
			}

			queue.mu.Lock()
			queue.judge = func(jobs.Job) (jobs.Record, bool) { return verdict(grade.WA), true }
			queue.mu.Unlock()
			if !complete {
				queue.end("item-1", verdict(grade.AC))
			}
			counts, err := runWith(t.Context(), t, queue, path, 2)
			require.NoError(t, err)
			require.Equal(t, map[grade.Verdict]int{grade.WA: 1, grade.AC: 1}, counts.Verdicts)
			require.Equal(t, map[string]int{"item-0": 2, "item-1": 1}, queue.times())
			results := openResults(t, path)
			last := map[string]grade.Verdict{}
			for item, err := range results.Items() {
				require.NoError(t, err)
				require.NotContains(t, last, item.ID)
				last[item.ID] = item.Verdict
			}
			require.Equal(t, map[string]grade.Verdict{"item-0": grade.WA, "item-1": grade.AC}, last)
		})
	}
}

func TestWhatAnInterruptCanceledIsJudgedByTheNextRun(t *testing.T) {
	t.Parallel()
	path, queue := resultsPath(t), newFakeQueue().manual()
	ctx, interrupt := context.WithCancel(t.Context())
	wait := startWith(ctx, t, queue, path, 3, func(o *Options) { o.CancelOnInterrupt = true })
	eventually(t, func() bool { return len(queue.times()) == 3 }, "all are submitted")
	interrupt()
	_, err := wait()
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, inFile(t, path))
	queue.mu.Lock()
	queue.judge = func(jobs.Job) (jobs.Record, bool) { return verdict(grade.AC), true }
	queue.mu.Unlock()
	counts, err := runWith(t.Context(), t, queue, path, 3)
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 3}, counts.Verdicts)
}

// A process that is just being started has every open file of this one.
func TestResultsAreFreeOnceClosedWhoeverElseHasTheFileOpen(t *testing.T) {
	t.Parallel()
	path := resultsPath(t)
	results, err := OpenResults(path, false)
	require.NoError(t, err)
	other, err := syscall.Dup(int(results.file.Fd()))
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Close(other)) }()
	require.NoError(t, results.Close())
	results, err = OpenResults(path, false)
	require.NoError(t, err)
	require.NoError(t, results.Close())
}

func TestALineThatACrashToreIsJudgedAgain(t *testing.T) {
	t.Parallel()
	path, queue := resultsPath(t), newFakeQueue()
	_, err := runWith(t.Context(), t, queue, path, 3)
	require.NoError(t, err)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, whole[:len(whole)-10], 0o600))
	counts, err := runWith(t.Context(), t, queue, path, 3)
	require.NoError(t, err)
	require.Equal(t, 2, counts.Skipped)
	require.Equal(t, 1, counts.Finished)
	require.Len(t, inFile(t, path), 3)
}

func TestResultsOfSomethingElseAreRefused(t *testing.T) {
	t.Parallel()
	path, queue := resultsPath(t), newFakeQueue()
	_, err := runWith(t.Context(), t, queue, path, 3)
	require.NoError(t, err)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, change := range map[string]func(*Entry){
		"another id":      func(e *Entry) { e.ID = "other" },
		"another program": func(e *Entry) { e.Job.Program.Source = sandbox.Bytes("other") },
		"another limit":   func(e *Entry) { memory := 64 * sandbox.MiB; e.Job.Program.Limits.Memory = &memory },
		"another test":    func(e *Entry) { e.Job.Grade = &grade.Task{Suite: &grade.Suite{}} },
	} {
		results, err := OpenResults(path, false)
		require.NoError(t, err, name)
		options := quick(&collected{})
		options.Results = results
		_, err = Run(t.Context(), queue, func(yield func(Entry, error) bool) {
			e := entry(1)
			change(&e)
			_ = yield(entry(0), nil) && yield(e, nil)
		}, options)
		require.ErrorIs(t, err, ErrOtherBatch, name)
		require.ErrorContains(t, err, "entry 2", name)
		require.ErrorIs(t, results.CheckLength(2), ErrOtherBatch)
		require.NoError(t, results.CheckLength(3))
		require.NoError(t, results.Close())
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestAFileThatIsNoResultsFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a batch":               `{"id":"a","language":"python","code":"print(1)"}` + "\n",
		"not JSON":              "hello\n",
		"an index that is none": `{"index":1000000000000,"id":"a","key":"k"}` + "\n",
		"an index below 0":      `{"index":-1,"id":"a","key":"k"}` + "\n",
	} {
		path := resultsPath(t)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := OpenResults(path, false)
		require.ErrorContains(t, err, path, name)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(kept), name)
	}
}

func TestOneProcessHasTheResults(t *testing.T) {
	t.Parallel()
	path := resultsPath(t)
	first := openResults(t, path)
	_, err := OpenResults(path, false)
	require.ErrorIs(t, err, ErrInUse)
	_, err = OpenResults(path, true)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, first.Close())
	openResults(t, path)
}

func TestItemsComeInTheOrderOfTheBatch(t *testing.T) {
	t.Parallel()
	path := resultsPath(t)
	results := openResults(t, path)
	for _, i := range []int{2, 0, 5} {
		require.NoError(t, results.add(report.Item{Index: i, ID: strings.Repeat("x", 1+i*9000), Key: "k", Verdict: grade.AC}))
		_, err := results.file.WriteString("\n") // as an editor may leave it
		require.NoError(t, err)
	}
	for range 2 {
		var indexes []int
		for item, err := range results.Items() {
			require.NoError(t, err)
			require.Len(t, item.ID, 1+item.Index*9000)
			indexes = append(indexes, item.Index)
		}
		require.Equal(t, []int{0, 2, 5}, indexes)
	}
}
