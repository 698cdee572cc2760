package batch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestEachEntryHasOneResultInTheOrderOfEnding(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue().manual(), &collected{}
	wait := start(t.Context(), t, queue, entries(3), quick(got))
	for n, id := range []string{"item-2", "item-0", "item-1"} {
		eventually(t, func() bool { return len(queue.times()) == 3 }, "all are submitted")
		queue.end(id, verdict(grade.WA))
		eventually(t, func() bool { return len(got.ids()) == n+1 }, id+" is handed out")
	}
	counts, err := wait()
	require.NoError(t, err)
	require.Equal(t, []string{"item-2", "item-0", "item-1"}, got.ids())
	require.Equal(t, 2, got.items[0].Index)
	require.Equal(t, Counts{Submitted: 3, Finished: 3, Unwanted: 3, Verdicts: map[grade.Verdict]int{grade.WA: 3}}, counts)
}

func TestJobsAreOfTheTenantAndQueueAndShareContainersOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	for _, reuse := range []bool{false, true} {
		queue, options := newFakeQueue(), quick(&collected{})
		var seen []jobs.Job
		queue.refuse = func(job jobs.Job) error { seen = append(seen, job); return nil }
		options.Tenant, options.Reuse = "school", reuse
		_, err := Run(t.Context(), queue, func(yield func(Entry, error) bool) {
			e := entry(0)
			e.Job.Program.Reuse, e.Job.Queue = "someone else's", jobs.Interactive
			yield(e, nil)
		}, options)
		require.NoError(t, err)
		require.Len(t, seen, 1)
		require.Equal(t, jobs.Batch, seen[0].Queue)
		require.Equal(t, "school", seen[0].Tenant)
		require.NotEqual(t, "someone else's", seen[0].Program.Reuse)
		require.Equal(t, reuse, seen[0].Program.Reuse != "")
	}
}

func TestTheWindowBoundsWhatIsInFlight(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*Options){
		"by number": func(o *Options) { o.Window = 7 },
		"by size":   func(o *Options) { size := entry(0).Size(); o.WindowBytes = int64(7*size + 6) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue, got := newFakeQueue().manual(), &collected{}
			options := quick(got)
			limit(&options)
			wait := start(t.Context(), t, queue, entries(10), options)
			for i := range 10 {
				want := min(10, 7+i)
				eventually(t, func() bool { return len(queue.times()) == want }, fmt.Sprintf("%d are submitted", want))
				queue.end(entry(i).ID, verdict(grade.AC))
			}
			_, err := wait()
			require.NoError(t, err)
			require.Equal(t, 7, queue.most)
		})
	}
}

func TestAJobLargerThanTheWindowGoesAlone(t *testing.T) {
	t.Parallel()
	queue, got, options := newFakeQueue(), &collected{}, quick(&collected{})
	options.WindowBytes, options.Done = 10, got.add
	_, err := Run(t.Context(), queue, entries(3), options)
	require.NoError(t, err)
	require.ElementsMatch(t, ids(3), got.ids())
}

func TestAnOutageOfSubmissionIsWaitedForAndSaidOnce(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue(), &collected{}
	var refusals atomic.Int64
	queue.refuse = func(jobs.Job) error {
		if refusals.Add(1) <= 250 {
			return errors.New("connection refused")
		}
		return nil
	}
	options, notices := quick(got), []string{}
	options.Notice = func(text string) { notices = append(notices, text) }
	counts, err := Run(t.Context(), queue, entries(100), options)
	require.NoError(t, err)
	require.ElementsMatch(t, ids(100), got.ids())
	require.Equal(t, 100, counts.Submitted)
	require.Len(t, notices, 2)
	require.Contains(t, notices[0], "connection refused")
	require.Contains(t, notices[1], "answers again")
}

func TestWhatRedisLostIsPreparedAndSubmittedAgain(t *testing.T) {
	t.Parallel()
	queue, got, prepared := newFakeQueue().manual(), &collected{}, atomic.Int64{}
	options := quick(got)
	options.Prepare = func(context.Context) error {
		if prepared.Add(1)%2 == 1 {
			return errors.New("connection refused")
		}
		return nil
	}
	wait := start(t.Context(), t, queue, entries(5), options)
	eventually(t, func() bool { return len(queue.times()) == 5 }, "all are submitted")
	require.EqualValues(t, 2, prepared.Load())
	queue.end("item-3", verdict(grade.AC))
	eventually(t, func() bool { return len(got.ids()) == 1 }, "one has ended")
	queue.lose()
	eventually(t, func() bool {
		return queue.times()["item-0"]+queue.times()["item-1"]+queue.times()["item-2"]+queue.times()["item-4"] == 8
	}, "the others are submitted again")
	for _, i := range []int{0, 1, 2, 4} {
		queue.end(entry(i).ID, verdict(grade.AC))
	}
	counts, err := wait()
	require.NoError(t, err)
	require.ElementsMatch(t, ids(5), got.ids())
	require.Equal(t, 5, counts.Submitted)
	require.Equal(t, map[string]int{"item-0": 2, "item-1": 2, "item-2": 2, "item-3": 1, "item-4": 2}, queue.times())
	require.EqualValues(t, 4, prepared.Load())
}

// After a submission that failed the blobs were stored once more. That was before Redis lost them.
func TestALossIsPreparedForThoughAnOutageWasBefore(t *testing.T) {
	t.Parallel()
	queue, got, prepared, refused := newFakeQueue().manual(), &collected{}, atomic.Int64{}, false
	queue.refuse = func(job jobs.Job) error {
		if string(job.Program.Source) == "item-1" && !refused {
			refused = true
			return errors.New("connection refused")
		}
		return nil
	}
	options := quick(got)
	options.Prepare = func(context.Context) error { prepared.Add(1); return nil }
	wait := start(t.Context(), t, queue, entries(2), options)
	eventually(t, func() bool { return len(queue.times()) == 2 }, "both are submitted")
	require.EqualValues(t, 2, prepared.Load())
	queue.end("item-1", verdict(grade.AC))
	eventually(t, func() bool { return len(got.ids()) == 1 }, "one has ended")
	queue.lose()
	eventually(t, func() bool { return queue.times()["item-0"] == 2 }, "the other is submitted again")
	require.EqualValues(t, 3, prepared.Load())
	queue.end("item-0", verdict(grade.AC))
	_, err := wait()
	require.NoError(t, err)
	require.ElementsMatch(t, ids(2), got.ids())
}

// Redis lost blobs and jobs, and a job that was submitted after that reached a worker before anybody saw it.
func TestAJobWhoseDataWasLostIsJudgedOnceTheDataIsThere(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		until int64 // how often the data must be stored
		want  grade.Verdict
		times int
	}{
		"there the second time": {2, grade.AC, 2},
		"never there":           {100, grade.IE, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue, got, prepared := newFakeQueue(), &collected{}, atomic.Int64{}
			queue.judge = func(jobs.Job) (jobs.Record, bool) {
				if prepared.Load() < tt.until {
					lost := outcome(sandbox.OutcomeInfraError)
					lost.Result.Message = "sandloop cannot run the job: " + jobs.ErrNoBlob.Error()
					return lost, true
				}
				return verdict(grade.AC), true
			}
			options := quick(got)
			options.Prepare = func(context.Context) error { prepared.Add(1); return nil }
			counts, err := Run(t.Context(), queue, entries(1), options)
			require.NoError(t, err)
			require.Equal(t, tt.want, got.items[0].Verdict)
			require.Equal(t, Counts{Submitted: 1, Finished: 1, Verdicts: map[grade.Verdict]int{tt.want: 1}}, counts)
			require.Equal(t, map[string]int{"item-0": tt.times}, queue.times())
			require.Len(t, queue.jobs, tt.times, "each has a name of its own")
		})
	}
}

func TestAJobThatIsAlwaysLostIsGivenUp(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue().manual(), &collected{}
	wait := start(t.Context(), t, queue, entries(1), quick(got))
	for n := 1; n <= 6; n++ {
		eventually(t, func() bool { return queue.times()["item-0"] == n }, fmt.Sprintf("submitted %d times", n))
		queue.lose()
	}
	counts, err := wait()
	require.NoError(t, err)
	require.Equal(t, 1, counts.Failed())
	require.Contains(t, got.items[0].Message, "lost 6 times")
}

func TestAJobThatIsRefusedIsNotJudgedAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	queue, got := newFakeQueue(), &collected{}
	queue.refuse = func(job jobs.Job) error {
		if string(job.Program.Source) == "item-1" {
			return fmt.Errorf("submit: %w", jobs.ErrTooLarge)
		}
		return nil
	}
	options := quick(got)
	options.Window = 1
	counts, err := Run(t.Context(), queue, func(yield func(Entry, error) bool) {
		invalid := entry(2)
		invalid.Job.Program.Main = "../etc/passwd"
		_ = yield(entry(0), nil) && yield(entry(1), nil) && yield(invalid, nil) && yield(entry(3), nil)
	}, options)
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: 2, grade.IE: 2}, counts.Verdicts)
	require.Zero(t, counts.Unwanted)
	messages := map[string]string{}
	for _, item := range got.items {
		messages[item.ID] = item.Message
	}
	require.Contains(t, messages["item-1"], "too large")
	require.Contains(t, messages["item-2"], "../etc/passwd")
}

func TestNobodyWaitsWithoutAWord(t *testing.T) {
	t.Parallel()
	queue, mu, notices := newFakeQueue().manual(), sync.Mutex{}, []string{}
	options := quick(&collected{})
	options.Notice = func(text string) { mu.Lock(); notices = append(notices, text); mu.Unlock() }
	heard := func(n int, text string) {
		t.Helper()
		eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(notices) == n && strings.Contains(notices[n-1], text)
		}, text)
	}
	alter := func(change func()) { queue.mu.Lock(); change(); queue.mu.Unlock() }
	queue.workers = 0
	wait := start(t.Context(), t, queue, entries(1), options)
	heard(1, "no worker")
	alter(func() { queue.broken = errors.New("connection refused") })
	heard(2, "connection refused")
	alter(func() { queue.broken, queue.workers = nil, 1 })
	heard(3, "answers again")
	queue.end("item-0", verdict(grade.AC))
	_, err := wait()
	require.NoError(t, err)
}

func TestAnErrorOfTheInputEndsTheRunAndLeavesTheJobs(t *testing.T) {
	t.Parallel()
	queue, broken := newFakeQueue().manual(), errors.New("line 3 is broken")
	counts, err := Run(t.Context(), queue, func(yield func(Entry, error) bool) {
		_ = yield(entry(0), nil) && yield(entry(1), nil) && yield(Entry{}, broken)
	}, quick(&collected{}))
	require.ErrorIs(t, err, broken)
	require.Equal(t, 2, counts.Outstanding())
	require.Empty(t, queue.canceled)
}

func TestAnErrorOfTheReceiverEndsTheRun(t *testing.T) {
	t.Parallel()
	full, calls, options := errors.New("disk full"), 0, quick(&collected{})
	options.Done = func(report.Item) error { calls++; return full }
	_, err := Run(t.Context(), newFakeQueue(), entries(1000), options)
	require.ErrorIs(t, err, full)
	require.Equal(t, 1, calls)
}

func TestAnInterruptLeavesTheJobsOrCancelsThem(t *testing.T) {
	t.Parallel()
	for name, cancels := range map[string]bool{"leaves": false, "cancels": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue, got := newFakeQueue().manual(), &collected{}
			ctx, interrupt := context.WithCancel(t.Context())
			options := quick(got)
			options.CancelOnInterrupt, options.Window = cancels, 4
			wait := start(ctx, t, queue, entries(10), options)
			eventually(t, func() bool { return len(queue.times()) == 4 }, "the window is full")
			queue.end("item-1", verdict(grade.AC))
			eventually(t, func() bool { return len(queue.times()) == 5 }, "another one is submitted")
			interrupt()
			counts, err := wait()
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, []string{"item-1"}, got.ids())
			if cancels {
				require.Equal(t, 4, counts.Canceled)
				require.Zero(t, counts.Outstanding())
				require.GreaterOrEqual(t, len(queue.canceled), 4)
				return
			}
			require.Equal(t, 4, counts.Outstanding())
			require.Empty(t, queue.canceled)
		})
	}
}

func TestMemoryDoesNotGrowWithTheBatch(t *testing.T) {
	t.Parallel()
	const number, size = 200_000, 512
	program := strings.Repeat("x", size)
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	queue := &forgetful{jobs: map[string]struct{}{}}
	options, most, before, n := Options{Window: 500}, uint64(0), heap(), 0
	options.Done = func(report.Item) error {
		if n++; n%50_000 == 0 {
			most = max(most, heap())
		}
		return nil
	}
	counts, err := Run(t.Context(), queue, many(number, program), options)
	require.NoError(t, err)
	require.Equal(t, number, counts.Finished)
	require.LessOrEqual(t, queue.most, 500)
	// All programs together are 100 MB; other tests run beside this one.
	require.Less(t, int64(most)-int64(before), int64(32<<20))
}

func many(number int, program string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for i := range number {
			e := Entry{ID: fmt.Sprint(i), Job: jobs.Job{Program: sandbox.Program{Language: "c", Source: sandbox.Bytes(program)}}}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// forgetful keeps a job only until somebody has its result.
type forgetful struct {
	fakeQueue
	jobs map[string]struct{}
}

func (f *forgetful) SubmitMany(_ context.Context, batch []jobs.Job) ([]jobs.Submission, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, job := range batch {
		f.jobs[job.ID] = struct{}{}
	}
	f.most = max(f.most, len(f.jobs))
	return make([]jobs.Submission, len(batch)), nil
}

func (f *forgetful) TrackBatch(context.Context, string, []string, []string) error { return nil }

func (f *forgetful) Await(_ context.Context, id string) (jobs.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.jobs, id)
	return jobs.Record{JobID: id, Result: sandbox.Result{Outcome: sandbox.OutcomeOK}, FinishedAt: time.Unix(1, 0)}, nil
}
