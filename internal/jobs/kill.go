package jobs

import (
	"context"
	"math"
	"sync"
)

// kills ends containers beside what else a worker does, one job's after the other's.
type kills struct {
	running sync.WaitGroup
	one     sync.Mutex
}

// killAll ends what this Docker daemon has of a job that ended without whoever runs it: no later attempt will do so, and
// a frozen worker removes nothing.
func (w *Worker) killAll(ctx context.Context, id string) {
	ctx = context.WithoutCancel(ctx)
	w.kills.running.Go(func() {
		w.kills.one.Lock()
		defer w.kills.one.Unlock()
		ctx, cancel := context.WithTimeout(ctx, killGrace)
		defer cancel()
		if err := w.options.Runner.KillOlder(ctx, id, math.MaxInt); err != nil {
			w.log.WarnContext(ctx, "attempts of an ended job not killed, the reaper will do it", "job", id, "error", err)
		}
	})
}
