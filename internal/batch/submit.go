package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// submit hands in a chunk, however often that takes, and calls accepted with each job that is in
// the queue. What is refused for good is handed out as unjudged. What is left when ctx ends is
// released: it was not submitted, or not known to be.
func (r *run) submit(ctx context.Context, chunk []*pending, accepted func(*pending)) {
	r.mu.Lock()
	for _, p := range chunk {
		r.flying[p.job.ID] = struct{}{}
	}
	r.mu.Unlock()
	left := r.handIn(ctx, chunk, func(p *pending, refusal error) {
		r.tell(func() error {
			r.counts.Submitted++
			r.options.Progress(r.counts)
			return nil
		})
		if refusal != nil {
			r.emit(unjudged(p.item, refusal))
			r.release(p)
			return
		}
		accepted(p)
	})
	for _, p := range left {
		r.unhold(p)
	}
}

// handIn tries until each job is settled: accepted or, with an error, refused for good. It returns
// those for which ctx left no time.
func (r *run) handIn(ctx context.Context, left []*pending, settled func(*pending, error)) []*pending {
	for pause := r.options.RetryMin; len(left) > 0; pause = min(2*pause, r.options.RetryMax) {
		var err error
		if left, err = r.handInOnce(ctx, left, settled); err == nil {
			r.unhindered()
			return nil
		}
		if ctx.Err() != nil || r.revoked.Load() {
			return left
		}
		select {
		case <-time.After(r.hindered(err, pause)):
		case <-ctx.Done():
			return left
		}
	}
	return nil
}

// handInOnce returns what is to be tried again, and why.
func (r *run) handInOnce(ctx context.Context, chunk []*pending, settled func(*pending, error)) (left []*pending, problem error) {
	if err := r.track(ctx, chunk); err != nil {
		return chunk, err
	}
	for _, p := range chunk {
		if err := r.prepare(ctx, p); err != nil {
			return chunk, fmt.Errorf("prepare the batch: %w", err)
		}
	}
	batch := make([]jobs.Job, len(chunk))
	for i, p := range chunk {
		batch[i] = p.job
	}
	submissions, _ := r.client.SubmitMany(ctx, batch) // each submission has its own error
	for i, p := range chunk {
		switch err := submissions[i].Err; {
		case err == nil, errors.Is(err, jobs.ErrConflict), errors.Is(err, jobs.ErrTooLarge), neverFits(err):
			p.existing = err == nil && submissions[i].Existing
			settled(p, err)
		default:
			left, problem = append(left, p), err
			if _, full := isFull(err); full {
				p.prepared-- // Redis lost nothing, so nothing is to be prepared again
			}
		}
	}
	return left, problem
}

// prepare calls Options.Prepare unless somebody did since p was last handed in: what Redis lost
// while it was away may be more than jobs. For a job that was lost somebody must have done it because of a loss,
// or it may have been before.
func (r *run) prepare(ctx context.Context, p *pending) error {
	r.preparing.Lock()
	defer r.preparing.Unlock()
	if r.prepared == p.prepared || p.lost && r.restored == p.restored {
		if err := r.options.Prepare(ctx); err != nil {
			return err
		}
		r.prepared++
		if p.lost {
			r.restored++
		}
	}
	p.prepared, p.restored, p.lost = r.prepared, r.restored, false
	return nil
}

// lost says once between two preparations that jobs are gone.
func (r *run) lost() {
	r.preparing.Lock()
	said := r.lostAfter == r.prepared
	r.lostAfter = r.prepared
	r.preparing.Unlock()
	if !said {
		r.notice("Redis lost jobs of this batch: they are submitted again")
	}
}
