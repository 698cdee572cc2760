package batch

import (
	"cmp"
	"context"
	"time"

	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
)

// Client is the part of [jobs.Client] that a batch needs.
type Client interface {
	SubmitMany(ctx context.Context, batch []jobs.Job) ([]jobs.Submission, error)
	Await(ctx context.Context, id string) (jobs.Record, error)
	Cancel(ctx context.Context, id string) (jobs.Status, error)
	TrackBatch(ctx context.Context, name string, add, ended []string) error
	ResumeBatch(ctx context.Context, name string) error
	BatchCanceled(ctx context.Context, name string) (bool, error)
	CancelBatch(ctx context.Context, name string) (jobs.BatchCancellation, error)
	Stats(ctx context.Context) (jobs.Stats, error)
}

// Options say how a batch is run; the zero value is usable. All functions but Prepare are called from the
// goroutine that called [Run], one at a time.
type Options struct {
	// Results, if not nil, keeps the results: what has one already is skipped, and new ones are added before
	// Done hears of them. Without it nothing is skipped.
	Results *Results
	// Tenant is on whose behalf the jobs run, and Queue where they wait: jobs.Batch when empty.
	Tenant string
	Queue  jobs.Queue
	// Reuse lets jobs of this batch run one after the other in one container.
	Reuse bool
	// Window is how many jobs are in flight at once, 1000 when 0; WindowBytes bounds their size in JSON
	// together, 64 MiB when 0. A larger job goes alone.
	Window      int
	WindowBytes int64
	// CancelOnInterrupt cancels what is in flight when the context ends, instead of leaving it.
	CancelOnInterrupt bool

	// Prepare stores what the jobs refer to, such as blobs. It is called before the first submission, and
	// again when Redis lost jobs or did not answer; an error has it called again later. It is called from
	// one goroutine at a time, not always the one that called Run.
	Prepare func(context.Context) error
	// Done gets each result in the order in which the jobs end. An error ends the run.
	Done func(report.Item) error
	// Progress is told the counts whenever they change. It must not keep the map in them.
	Progress func(Counts)
	// Notice is told what somebody who waits wants to know, such as that Redis does not answer.
	Notice func(string)

	// RetryMin and RetryMax are the first and the longest pause before something is tried again: 100 ms
	// and 5 s when 0. WatchEvery is how long nothing ends before workers and Redis are looked at: 5 s when 0.
	RetryMin, RetryMax, WatchEvery time.Duration
}

func (o Options) withDefaults() Options {
	o.Queue = cmp.Or(o.Queue, jobs.Batch)
	o.Window = cmp.Or(o.Window, 1000)
	o.WindowBytes = cmp.Or(o.WindowBytes, 64<<20)
	o.RetryMin = cmp.Or(o.RetryMin, 100*time.Millisecond)
	o.RetryMax = cmp.Or(o.RetryMax, 5*time.Second)
	o.WatchEvery = cmp.Or(o.WatchEvery, 5*time.Second)
	if o.Prepare == nil {
		o.Prepare = func(context.Context) error { return nil }
	}
	if o.Done == nil {
		o.Done = func(report.Item) error { return nil }
	}
	if o.Progress == nil {
		o.Progress = func(Counts) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return o
}
