package docker

import (
	"context"
	"time"
)

// Start is how the start of a container went.
type Start struct {
	// Warm ones are started ahead of need; for others a job waits.
	Warm bool
	// Took is from the wish to have it until its sandbox-init was ready, or until that failed with Err.
	Took time.Duration
	Err  error
}

// startObserved is startHealed for whoever counts. A start that nobody wants any more is none.
func (r *Runner) startObserved(ctx context.Context, spec ContainerSpec, s shape, warm bool) (*box, error) {
	begun := time.Now()
	b, err := r.startHealed(ctx, spec, s)
	if r.options.OnStart != nil && (err == nil || ctx.Err() == nil) {
		r.options.OnStart(Start{Warm: warm, Took: time.Since(begun), Err: err})
	}
	return b, err
}
