package jobs

import (
	"context"
	"sync"
	"time"
)

const (
	// readyLimit bounds one question whether the runner can run programs: a loaded machine takes long to start a container.
	readyLimit = 30 * time.Second
	// readyPeriod is how often it is asked while it cannot.
	readyPeriod = time.Second
	// excuses is how often a job's failure may be put down to the machine. A job that breaks it every time is given up in the end.
	excuses = 20
)

// gate keeps a worker from taking jobs while what it runs them on is broken. Otherwise it would take one after the other
// faster than anybody who can run them, and spoil them all.
type gate struct {
	shut chan struct{} // capacity 1; has something when the gate was closed

	mu    sync.Mutex // held while the runner is asked
	asked time.Time  // when its last answer came
	last  error
}

// broken asks, after an attempt failed by our own doing, whether the runner can run any program at all. If it cannot, the
// worker takes no more jobs until it can.
func (w *Worker) broken(ctx context.Context) bool {
	if w.options.Ready == nil {
		return false
	}
	came := time.Now()
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	if w.gate.asked.Before(came) { // else somebody asked meanwhile
		w.gate.last, w.gate.asked = w.askReady(context.WithoutCancel(ctx)), time.Now()
	}
	if w.gate.last == nil {
		return false
	}
	w.slots.pause()
	w.forwards.slots.pause()
	notify(w.gate.shut)
	return true
}

func (w *Worker) askReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	return w.options.Ready(ctx)
}

// reopen has the worker take jobs again when it can run them, each time that the gate was closed, until ctx ends.
func (w *Worker) reopen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.gate.shut:
		}
		began := time.Now()
		w.log.ErrorContext(ctx, "no program can be run here, the worker takes no jobs", "error", w.gate.answer())
		for !w.tryReopen(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-w.stop:
				return
			case <-time.After(readyPeriod):
			}
		}
		w.log.InfoContext(ctx, "programs can be run again, the worker takes jobs", "after", time.Since(began))
	}
}

// tryReopen opens the gate if the runner is ready.
func (w *Worker) tryReopen(ctx context.Context) bool {
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.gate.last, w.gate.asked = w.askReady(ctx), time.Now()
	if w.gate.last != nil {
		return false
	}
	select {
	case <-w.gate.shut: // closed once more before this answer
	default:
	}
	w.slots.resume()
	w.forwards.slots.resume()
	return true
}

func (g *gate) answer() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}
