package batch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
)

// ErrCanceled means that somebody canceled the batch while it ran.
var ErrCanceled = errors.New("the batch was canceled")

// canceledMessage is what the items of a canceled batch say that had a job.
const canceledMessage = "the batch was canceled before the item was judged"

// untrackTime bounds how long the end of a run takes to say which of its jobs have ended. What it does not say costs a little memory for a while.
const untrackTime = 2 * time.Second

// tracking is what the set of the batch's jobs in Redis does not know yet.
type tracking struct {
	mu      sync.Mutex
	resumed bool     // the set takes jobs again, if the batch was canceled before this run
	ended   []string // jobs to be taken out
}

// track notes in Redis which jobs are about to be submitted.
func (r *run) track(ctx context.Context, chunk []*pending) error {
	ids := make([]string, len(chunk))
	for i, p := range chunk {
		ids[i] = p.job.ID
	}
	r.tracking.mu.Lock()
	defer r.tracking.mu.Unlock()
	if !r.tracking.resumed {
		if err := r.client.ResumeBatch(ctx, r.scope); err != nil {
			return err
		}
		r.tracking.resumed = true
	}
	err := r.client.TrackBatch(ctx, r.scope, ids, r.tracking.ended)
	if errors.Is(err, jobs.ErrBatchCanceled) {
		r.revoke()
	}
	if err == nil {
		r.tracking.ended = nil
	}
	return err
}

// untrack has a job taken out of the set with the next ones that come.
func (r *run) untrack(id string) {
	r.tracking.mu.Lock()
	defer r.tracking.mu.Unlock()
	r.tracking.ended = append(r.tracking.ended, id)
}

// untrackRest takes out of the set what has ended since something was last submitted.
func (r *run) untrackRest(ctx context.Context) {
	r.tracking.mu.Lock()
	defer r.tracking.mu.Unlock()
	if len(r.tracking.ended) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), untrackTime)
	defer cancel()
	if err := r.client.TrackBatch(ctx, r.scope, nil, r.tracking.ended); err != nil && !errors.Is(err, jobs.ErrBatchCanceled) {
		r.options.Notice("the list of the batch's jobs in Redis still has some that have ended: " + err.Error())
	}
}

// revoke ends the run because the batch was canceled.
func (r *run) revoke() {
	r.revoked.Store(true)
	r.fail(ErrCanceled)
}

// isCanceled looks whether somebody canceled the batch, and ends the run if so.
func (r *run) isCanceled(ctx context.Context) bool {
	if r.revoked.Load() {
		return true
	}
	canceled, err := r.client.BatchCanceled(ctx, r.scope)
	if err == nil && canceled {
		r.revoke()
	}
	return r.revoked.Load()
}

// giveUp counts an entry as canceled. In a canceled batch its results file says so; the next run judges it.
func (r *run) giveUp(p *pending, record jobs.Record) {
	item := judged(fill(p.item, p.job.Grade != nil, record), grade.IE, canceledMessage)
	listed := r.revoked.Load() && r.options.Results != nil
	r.tell(func() error {
		r.counts.Canceled++
		r.options.Progress(r.counts)
		if !listed {
			return nil
		}
		return r.options.Results.add(item)
	})
}
