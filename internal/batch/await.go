package batch

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// mostLosses is how often a job whose record is gone is submitted again.
const mostLosses = 5

// await sees a submitted job to its end and hands out its result. When ctx ends first the job
// stays outstanding.
func (r *run) await(ctx context.Context, p *pending) {
	for losses := 0; ; {
		record, err := r.client.Await(ctx, p.job.ID)
		var late *jobs.AwaitError
		switch {
		case err == nil && record.LostBlob() && losses < mostLosses: // a worker was faster than our look at what is lost
			losses++
			r.rename(p)
			if !r.submitAgain(ctx, p) {
				return
			}
		case err == nil:
			r.finish(p, record)
			return
		case ctx.Err() != nil:
			return
		case errors.As(err, &late): // a whole day has passed
		case errors.Is(err, jobs.ErrClosed):
			r.tell(func() error { return err })
			return
		case !errors.Is(err, jobs.ErrNotFound):
			r.emit(unjudged(p.item, err))
			return
		case losses == mostLosses:
			r.emit(unjudged(p.item, fmt.Errorf("the job was lost %d times with the data of Redis", losses+1)))
			return
		default:
			losses++
			if !r.submitAgain(ctx, p) {
				return
			}
		}
	}
}

func (r *run) finish(p *pending, record jobs.Record) {
	if r.canceling.Load() && record.Result.Outcome == sandbox.OutcomeCanceled {
		r.tell(func() error {
			r.counts.Canceled++
			r.options.Progress(r.counts)
			return nil
		})
		return
	}
	r.emit(rejudged(fill(p.item, p.job.Grade != nil, record), p.job.Grade))
}

// rename makes a job another one, in the same way in every run, since the one that there was has its result.
func (r *run) rename(p *pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.flying, p.job.ID)
	p.job.IdempotencyKey += "/again"
	p.job.ID = jobs.KeyedID(p.job.Tenant, p.job.IdempotencyKey)
	r.flying[p.job.ID] = struct{}{}
}

// submitAgain hands in a job that Redis has lost, and reports whether it is in the queue.
func (r *run) submitAgain(ctx context.Context, p *pending) (again bool) {
	if r.canceling.Load() {
		return false
	}
	r.lost()
	p.lost = true
	r.handIn(ctx, []*pending{p}, func(_ *pending, refusal error) {
		if again = refusal == nil; !again {
			r.emit(unjudged(p.item, refusal))
		}
	})
	return again
}
