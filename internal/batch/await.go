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
		case err == nil && losses < mostLosses && r.isLeftover(ctx, p, record):
			losses++
			r.rename(p)
			if !r.handInAgain(ctx, p) {
				return
			}
		case err == nil:
			r.finish(ctx, p, record)
			return
		case ctx.Err() != nil:
			p.left = true
			return
		case errors.As(err, &late): // a whole day has passed
		case errors.Is(err, jobs.ErrClosed):
			p.left = true
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

// isLeftover tells whether a job is one that was canceled before this run handed it in, such as with the whole batch when nobody ran it.
func (r *run) isLeftover(ctx context.Context, p *pending, record jobs.Record) bool {
	return record.Result.Outcome == sandbox.OutcomeCanceled && p.existing && !r.canceling.Load() && !r.isCanceled(ctx)
}

func (r *run) finish(ctx context.Context, p *pending, record jobs.Record) {
	if record.Result.Outcome == sandbox.OutcomeCanceled && (r.canceling.Load() || r.isCanceled(ctx)) {
		r.giveUp(p, record)
		return
	}
	r.emit(rejudged(fill(p.item, p.job.Grade != nil, record), p.job.Grade))
}

// rename makes a job another one, in the same way in every run, since the one that there was has its result.
func (r *run) rename(p *pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.flying, p.job.ID)
	r.untrack(p.job.ID)
	p.job.IdempotencyKey += "/again"
	p.job.ID = jobs.KeyedID(p.job.Tenant, p.job.IdempotencyKey)
	r.flying[p.job.ID] = struct{}{}
}

// submitAgain hands in a job that Redis has lost, and reports whether it is in the queue.
func (r *run) submitAgain(ctx context.Context, p *pending) bool {
	if r.canceling.Load() {
		return false
	}
	r.lost()
	p.lost = true
	return r.handInAgain(ctx, p)
}

// handInAgain hands in a job of an entry that was handed in before, and reports whether it is in the queue.
func (r *run) handInAgain(ctx context.Context, p *pending) (again bool) {
	left := r.handIn(ctx, []*pending{p}, func(_ *pending, refusal error) {
		if again = refusal == nil; !again {
			r.emit(unjudged(p.item, refusal))
		}
	})
	if len(left) > 0 && r.revoked.Load() {
		r.giveUp(p, jobs.Record{JobID: p.job.ID})
	}
	return again
}
