package batch

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/sandloop/sandloop/internal/grade/report"
)

// Run judges the entries and returns when each has a result, or the context has ended. The counts
// are right in either case: when the context ended, Outstanding tells how many jobs go on without us.
// Redis may be away or lose all it has on the way: Run waits for it and submits again what is gone.
//
// What the sequence yields as an error ends the run, and so does an error of Options.Done or of the
// results file. Jobs in flight then go on; a run with the same Results finds their results.
//
// The error is [ErrCanceled] when somebody canceled the batch by its name: then nothing of it goes on, and a run with the same
// Results judges what has no result yet.
func Run(ctx context.Context, client Client, entries iter.Seq2[Entry, error], options Options) (Counts, error) {
	r := newRun(client, options.withDefaults())
	working, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r.fail = fail
	waiting, stopWaiting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWaiting()

	var judging, beside sync.WaitGroup
	judging.Go(func() {
		defer close(r.produced)
		if err := r.produce(working, waiting, &judging, entries); err != nil {
			fail(err)
		}
	})
	finished := make(chan struct{})
	beside.Go(func() { r.watch(working, finished) })
	beside.Go(func() {
		select {
		case <-finished:
		case <-working.Done():
			r.windDown(ctx, finished)
			stopWaiting()
		}
	})
	go func() {
		judging.Wait()
		close(finished)
		beside.Wait()
		close(r.events)
	}()
	for event := range r.events {
		if r.broken {
			continue
		}
		if err := event(); err != nil {
			r.broken = true
			fail(err)
		}
	}
	r.untrackRest(ctx)
	return r.counts, r.end(ctx, context.Cause(working))
}

// run is the state of a Run.
type run struct {
	client  Client
	options Options
	scope   string
	slots   *semaphore.Weighted
	bytes   *semaphore.Weighted
	// events are executed by Run's goroutine, which alone touches counts and broken.
	events chan func() error
	counts Counts
	broken bool // an event failed; the rest is left undone

	produced  chan struct{} // closed when nothing is submitted any more
	exhausted bool          // every entry was submitted; for who knows that produced is closed
	endings   atomic.Int64  // results so far, for watch
	canceling atomic.Bool   // what is in flight is being canceled
	revoked   atomic.Bool   // somebody canceled the batch
	fail      context.CancelCauseFunc
	outage    outage
	full      atomic.Bool // it was said that there is no room in the queue
	tracking  tracking

	preparing sync.Mutex
	prepared  int // how often; 0 is not yet
	restored  int // how often of these because jobs were lost
	lostAfter int // prepared, when it was last said that jobs were lost

	mu     sync.Mutex
	flying map[string]struct{} // ids of the jobs in flight
}

func newRun(client Client, options Options) *run {
	r := &run{
		client: client, options: options, events: make(chan func() error, 256), produced: make(chan struct{}), flying: map[string]struct{}{},
		slots: semaphore.NewWeighted(int64(options.Window)), bytes: semaphore.NewWeighted(options.WindowBytes),
	}
	if options.Results != nil {
		r.scope, r.counts = options.Results.state.Scope, options.Results.Counts()
		r.counts.Skipped = 0 // counted again as the entries come
	} else {
		r.scope = newScope()
	}
	return r
}

// end makes the error of Run.
func (r *run) end(ctx context.Context, cause error) error {
	left := r.counts.Outstanding()
	switch {
	case r.exhausted && left+r.counts.Canceled == 0 && !r.broken:
		if r.options.Results != nil {
			return r.options.Results.Complete()
		}
		return nil
	case ctx.Err() == nil:
		return cause
	case left > 0:
		return fmt.Errorf("batch interrupted with %s in flight: %w", describe(left, "job"), cause)
	}
	return fmt.Errorf("batch interrupted: %w", cause)
}

// tell has Run's goroutine do something.
func (r *run) tell(event func() error) { r.events <- event }

// emit hands out a result.
func (r *run) emit(item report.Item) {
	r.endings.Add(1)
	r.tell(func() error {
		if r.options.Results != nil {
			if err := r.options.Results.add(item); err != nil {
				return err
			}
		}
		r.counts.finish(item)
		r.options.Progress(r.counts)
		return r.options.Done(item)
	})
}
