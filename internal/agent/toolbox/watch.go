package toolbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// followAfter is how long a job may take before its output is followed: of a short one all comes with the result.
	followAfter = 50 * time.Millisecond
	// lookEvery is how often the state of a job is looked at.
	lookEvery = 250 * time.Millisecond
	// lookTime bounds one such look.
	lookTime = 2 * time.Second
	// lingerTime is how long a job that was canceled may take to say how far it got.
	lingerTime = 2 * time.Second
)

// goneError means that there is no job to wait for or to cancel any more.
type goneError struct{ advice string }

func (e *goneError) Error() string { return e.advice }

// awaited is what Await returned.
type awaited struct {
	record jobs.Record
	err    error
}

// watch waits for a job and passes on what happens to it meanwhile.
type watch struct {
	box   *Toolbox
	id    string
	relay *relay
	// follow begins to read output, once, and end ends all that reads for this watch.
	follow, end func()
	done        chan awaited
	pieces      chan sandbox.Output

	state jobs.State
	// since is when the job began to wait, and seen when its state could be read last.
	since, seen time.Time
}

// watch begins to wait. The caller must end it.
func (t *Toolbox) watch(ctx context.Context, id string, progress func(agent.Progress)) *watch {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx)) // after ctx has ended the job is still to be heard of
	w := &watch{
		box: t, id: id, relay: newRelay(id, progress), end: stop,
		done: make(chan awaited, 1), pieces: make(chan sandbox.Output), since: time.Now(), seen: time.Now(),
	}
	w.follow = sync.OnceFunc(func() { w.read(reading) })
	t.background.Go(func() {
		record, err := t.options.Jobs.Await(reading, id)
		w.done <- awaited{record, err}
	})
	return w
}

// wait returns the job's record, or why nobody should wait any longer.
func (w *watch) wait(ctx context.Context) (jobs.Record, error) {
	w.changed(jobs.Queued)
	follow := time.NewTimer(followAfter)
	defer follow.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case a := <-w.done:
			return w.finish(a)
		case piece := <-w.pieces:
			w.relay.piece(piece)
		case <-follow.C:
			w.follow()
		case <-look.C:
			if err := w.look(ctx); err != nil {
				return jobs.Record{}, err
			}
		case <-ctx.Done():
			return jobs.Record{}, context.Cause(ctx)
		}
	}
}

// linger waits for the record of a job that was canceled a moment ago.
func (w *watch) linger(ctx context.Context) (record jobs.Record, known bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lingerTime)
	defer cancel()
	for {
		select {
		case a := <-w.done:
			record, err := w.finish(a)
			return record, err == nil
		case piece := <-w.pieces:
			w.relay.piece(piece)
		case <-ctx.Done():
			return jobs.Record{}, false
		}
	}
}

// finish takes what Await returned.
func (w *watch) finish(a awaited) (jobs.Record, error) {
	switch {
	case a.err == nil:
		w.relay.finish(a.record.Result)
		return a.record, nil
	case errors.Is(a.err, jobs.ErrNotFound):
		return jobs.Record{}, &goneError{fmt.Sprintf("the job %s is not known any more: it is too old, or the queue lost its data. Run the code again", w.id)}
	}
	return jobs.Record{}, fmt.Errorf("the queue failed on the job %s (%s). This is not your doing: try once more", w.id, oneLine(a.err))
}

// read passes on output as it comes. Nothing is read for nobody.
func (w *watch) read(ctx context.Context) {
	if w.relay.progress == nil {
		return
	}
	w.box.background.Go(func() {
		_ = w.box.options.Jobs.Follow(ctx, w.id, func(piece sandbox.Output) { // the result has all of it
			select {
			case w.pieces <- piece:
			case <-ctx.Done():
			}
		})
	})
}

func (w *watch) changed(state jobs.State) {
	if state == w.state {
		return
	}
	w.state, w.since = state, time.Now()
	if state != jobs.Done {
		w.relay.state(string(state))
	}
}

// look tells how the job is. The error is why nobody should wait any longer.
func (w *watch) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	options := w.box.options
	status, err := options.Jobs.Status(ctx, w.id)
	now := time.Now()
	if err != nil {
		if now.Sub(w.seen) >= options.WorkerWait {
			return fmt.Errorf("the queue has not answered for %s (%s). This is not your doing: try once more; if it stays so, say in your answer that the sandbox is out of order", seconds(options.WorkerWait), oneLine(err))
		}
		return nil
	}
	w.seen = now
	w.changed(status.State)
	waited := now.Sub(w.since)
	if status.State != jobs.Queued || waited < min(options.WorkerWait, options.QueueWait) {
		return nil
	}
	if waited >= options.QueueWait {
		return fmt.Errorf("no worker took the job in %s, since all of them are busy or another job of the session runs. Try again later, with less at a time", seconds(options.QueueWait))
	}
	if stats, err := options.Jobs.Stats(ctx); err == nil && len(stats.Workers) == 0 {
		return fmt.Errorf("no worker took the job in %s, since none is running. This is not your doing: say in your answer that somebody must start a worker", seconds(options.WorkerWait))
	}
	return nil
}

func seconds(d time.Duration) string { return number(d.Seconds()) + " s" }
