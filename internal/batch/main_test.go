package batch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMain(m *testing.M) {
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	// go-redis looks once a second whether a pool without connections is closed by now.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// bound is how long a test waits for what must happen.
const bound = 2 * time.Minute

// entry is one of a batch; its source names it.
func entry(i int) Entry {
	id := fmt.Sprintf("item-%d", i)
	return Entry{ID: id, Group: "g", Job: jobs.Job{
		Program: sandbox.Program{Language: "python", Source: sandbox.Bytes(id)},
		Grade:   &grade.Task{Suite: &grade.Suite{Tests: []grade.Test{{Name: "1"}}}},
	}}
}

func entries(n int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for i := range n {
			if !yield(entry(i), nil) {
				return
			}
		}
	}
}

// fakeQueue is a queue whose jobs end when a test says so.
type fakeQueue struct {
	// judge ends a job as soon as it is submitted, unless it reports false.
	judge func(jobs.Job) (jobs.Record, bool)
	// refuse, if not nil, is asked before a job is taken.
	refuse func(jobs.Job) error

	mu        sync.Mutex
	jobs      map[string]*fakeJob
	submitted map[string]int // by source: how many jobs were made for it
	flying    int
	most      int // the highest flying so far
	canceled  []string
	broken    error // what Stats says
	workers   int
	tracked   map[string]bool
	revoked   bool // the batch was canceled
	revokes   int  // how often it was canceled by the run itself
}

type fakeJob struct {
	job    jobs.Job
	record jobs.Record
	done   chan struct{} // closed once record is there
	gone   bool          // Redis lost it
}

func newFakeQueue() *fakeQueue {
	return &fakeQueue{
		jobs: map[string]*fakeJob{}, submitted: map[string]int{}, workers: 1, tracked: map[string]bool{},
		judge: func(job jobs.Job) (jobs.Record, bool) { return verdict(grade.AC), true },
	}
}

// manual has jobs end only by end.
func (q *fakeQueue) manual() *fakeQueue {
	q.judge = func(jobs.Job) (jobs.Record, bool) { return jobs.Record{}, false }
	return q
}

func verdict(v grade.Verdict) jobs.Record {
	return jobs.Record{
		Result: sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true},
		Grade:  &grade.Report{Verdict: v}, FinishedAt: time.Unix(1, 0),
	}
}

func outcome(o sandbox.Outcome) jobs.Record {
	return jobs.Record{Result: sandbox.Result{Outcome: o, ExitCode: -1, Message: "because of " + string(o)}}
}

func (q *fakeQueue) SubmitMany(ctx context.Context, batch []jobs.Job) ([]jobs.Submission, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	submissions := make([]jobs.Submission, len(batch))
	for i, job := range batch {
		submissions[i].ID = job.ID
		if submissions[i].Err = ctx.Err(); submissions[i].Err == nil && q.refuse != nil {
			submissions[i].Err = q.refuse(job)
		}
		if submissions[i].Err != nil {
			continue
		}
		if have := q.jobs[job.ID]; have != nil && !have.gone {
			submissions[i].Existing = true
			continue
		}
		q.jobs[job.ID] = &fakeJob{job: job, done: make(chan struct{})}
		q.submitted[string(job.Program.Source)]++
		q.flying++
		q.most = max(q.most, q.flying)
		if record, done := q.judge(job); done {
			q.endLocked(job.ID, record)
		}
	}
	return submissions, nil
}

func (q *fakeQueue) endLocked(id string, record jobs.Record) {
	record.JobID = id
	job := q.jobs[id]
	job.record = record
	close(job.done)
	q.flying--
}

// end gives the job of a source its result.
func (q *fakeQueue) end(source string, record jobs.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, job := range q.jobs {
		if string(job.job.Program.Source) == source && !isClosed(job.done) {
			q.endLocked(id, record)
			return
		}
	}
	panic("no job of " + source)
}

// lose forgets all jobs, as a Redis without a disk does.
func (q *fakeQueue) lose() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, job := range q.jobs {
		job.gone = true
		if !isClosed(job.done) {
			close(job.done)
			q.flying--
		}
	}
}

func isClosed(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (q *fakeQueue) Await(ctx context.Context, id string) (jobs.Record, error) {
	q.mu.Lock()
	job := q.jobs[id]
	q.mu.Unlock()
	select {
	case <-job.done:
	case <-ctx.Done():
		return jobs.Record{}, &jobs.AwaitError{Status: jobs.Status{ID: id}, Err: ctx.Err()}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if job.gone {
		return jobs.Record{}, fmt.Errorf("job %s: %w", id, jobs.ErrNotFound)
	}
	return job.record, nil
}

func (q *fakeQueue) Cancel(_ context.Context, id string) (jobs.Status, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.canceled = append(q.canceled, id)
	if job := q.jobs[id]; job != nil && !isClosed(job.done) {
		q.endLocked(id, outcome(sandbox.OutcomeCanceled))
	}
	return jobs.Status{ID: id}, nil
}

func (q *fakeQueue) TrackBatch(_ context.Context, _ string, add, ended []string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ended {
		delete(q.tracked, id)
	}
	if q.revoked {
		return jobs.ErrBatchCanceled
	}
	for _, id := range add {
		q.tracked[id] = true
	}
	return nil
}

func (q *fakeQueue) ResumeBatch(context.Context, string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.revoked = false
	return nil
}

func (q *fakeQueue) BatchCanceled(context.Context, string) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.revoked, q.broken
}

func (q *fakeQueue) CancelBatch(context.Context, string) (jobs.BatchCancellation, error) {
	q.cancelBatch()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.revokes++
	return jobs.BatchCancellation{}, q.broken
}

// cancelBatch cancels every job that is tracked, as somebody else does.
func (q *fakeQueue) cancelBatch() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.revoked = true
	for id := range q.tracked {
		if job := q.jobs[id]; job != nil && !isClosed(job.done) {
			q.endLocked(id, outcome(sandbox.OutcomeCanceled))
		}
	}
}

// left lists the sources of the jobs that are tracked.
func (q *fakeQueue) left() (sources []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id := range q.tracked {
		if job := q.jobs[id]; job != nil {
			sources = append(sources, string(job.job.Program.Source))
		}
	}
	return sources
}

func (q *fakeQueue) Stats(context.Context) (jobs.Stats, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return jobs.Stats{Workers: make([]jobs.WorkerInfo, q.workers)}, q.broken
}

// times tells how many jobs were made of each source.
func (q *fakeQueue) times() map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	times := map[string]int{}
	for source, n := range q.submitted {
		times[source] = n
	}
	return times
}

// once is what times is when each of the first n entries became one job.
func once(n int) map[string]int {
	times := map[string]int{}
	for i := range n {
		times[entry(i).ID] = 1
	}
	return times
}

// collected are the items that a run handed out.
type collected struct {
	mu    sync.Mutex
	items []report.Item
}

func (c *collected) add(item report.Item) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items = append(c.items, item)
	return nil
}

func (c *collected) ids() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range c.items {
		ids = append(ids, item.ID)
	}
	return ids
}

func ids(n int) (ids []string) {
	for i := range n {
		ids = append(ids, entry(i).ID)
	}
	return ids
}

// quick are options with pauses for tests.
func quick(c *collected) Options {
	return Options{Done: c.add, RetryMin: time.Millisecond, RetryMax: 5 * time.Millisecond, WatchEvery: 5 * time.Millisecond}
}

// start runs a batch in the background and returns how to wait for its end.
func start(ctx context.Context, t *testing.T, queue Client, entries iter.Seq2[Entry, error], options Options) func() (Counts, error) {
	t.Helper()
	type ended struct {
		counts Counts
		err    error
	}
	done := make(chan ended, 1)
	go func() {
		counts, err := Run(ctx, queue, entries, options)
		done <- ended{counts, err}
	}()
	return func() (Counts, error) {
		t.Helper()
		select {
		case end := <-done:
			return end.counts, end.err
		case <-time.After(bound):
			require.FailNow(t, "the batch did not end within "+bound.String())
			return Counts{}, errors.New("unreachable")
		}
	}
}

func eventually(t *testing.T, holds func() bool, what string) {
	t.Helper()
	require.Eventually(t, holds, bound, time.Millisecond, what)
}

func openResults(t *testing.T, path string) *Results {
	t.Helper()
	results, err := OpenResults(path, false)
	require.NoError(t, err)
	t.Cleanup(func() { _ = results.Close() })
	return results
}

func resultsPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "results.jsonl")
}
