package batch

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// cancelGrace bounds the cancellation of what is in flight, and the wait for its ends.
	cancelGrace = 10 * time.Second
	// revokedGrace is the same for a batch that somebody canceled, where nobody waits at a keyboard for its end.
	revokedGrace = time.Minute
	// cancelsAtOnce is how many jobs are canceled at the same time.
	cancelsAtOnce = 16
)

// windDown decides what becomes of the jobs in flight once the run has to end. Unless they are to be
// canceled nothing: they go on, and another run finds their results. Of a batch that somebody canceled this cancels what was
// submitted at the same moment.
func (r *run) windDown(ctx context.Context, finished <-chan struct{}) {
	if !r.revoked.Load() && (ctx.Err() == nil || !r.options.CancelOnInterrupt) {
		return
	}
	<-r.produced // or a job could be made after it was canceled
	r.canceling.Store(true)
	if r.options.Results != nil {
		// The canceled jobs keep their names, under which the next run would find no verdict.
		if err := r.options.Results.renew(); err != nil {
			r.notice("%v: what is canceled now has to be judged by the run after the next", err)
		}
	}
	grace := cancelGrace
	if r.revoked.Load() {
		grace = revokedGrace
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	if r.revoked.Load() {
		if _, err := r.client.CancelBatch(ctx, r.scope); err != nil {
			r.notice("%v", err)
		}
	} else {
		r.cancelAll(ctx)
	}
	select {
	case <-finished:
	case <-ctx.Done():
	}
}

func (r *run) cancelAll(ctx context.Context) {
	r.mu.Lock()
	ids := make([]string, 0, len(r.flying))
	for id := range r.flying {
		ids = append(ids, id)
	}
	r.mu.Unlock()
	var cancels errgroup.Group
	cancels.SetLimit(cancelsAtOnce)
	for _, id := range ids {
		cancels.Go(func() error {
			_, err := r.client.Cancel(ctx, id)
			return err
		})
	}
	if err := cancels.Wait(); err != nil && ctx.Err() != nil {
		r.notice("not all jobs could be canceled: %v", err)
	}
}
