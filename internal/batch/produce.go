package batch

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
)

// submitChunk is how many jobs are submitted together.
const submitChunk = 200

// pending is an entry on its way to its result.
type pending struct {
	item report.Item
	job  jobs.Job
	size int64
	// prepared and restored are those of the run when it was submitted.
	prepared, restored int
	lost               bool // Redis lost it, and it was not submitted again yet
	existing           bool // it was there already when it was last handed in
	left               bool // it goes on without us
}

// produce submits the entries as the window allows, and starts a goroutine of judging for each.
func (r *run) produce(ctx, waiting context.Context, judging *sync.WaitGroup, entries iter.Seq2[Entry, error]) error {
	var chunk []*pending
	flush := func() {
		r.submit(ctx, chunk, func(p *pending) {
			judging.Go(func() {
				defer r.release(p)
				r.await(waiting, p)
			})
		})
		chunk = nil
	}
	index := -1
	for entry, err := range entries {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			flush()
			return err
		}
		index++
		p, err := r.accept(index, entry)
		if err != nil {
			flush()
			return err
		}
		if p == nil {
			continue
		}
		if len(chunk) == submitChunk || !r.tryAcquire(p) {
			flush()
			if err := r.acquire(ctx, p); err != nil {
				return nil // the context has ended
			}
		}
		chunk = append(chunk, p)
	}
	flush()
	r.exhausted = ctx.Err() == nil
	return nil
}

// accept makes the job of an entry; nil if it has a result already, needs no job or cannot be submitted.
func (r *run) accept(index int, entry Entry) (*pending, error) {
	key, program, size := entry.keys()
	job := entry.Job
	item := report.Item{
		Index: index, ID: entry.ID, Group: entry.Group, Key: key, Program: program,
		Language: job.Program.Language, Expected: entry.Expected, Previous: entry.Previous,
	}
	try := 0
	if results := r.options.Results; results != nil {
		has, err := results.has(index, entry.ID, key)
		if err != nil {
			return nil, err
		}
		if has {
			r.tell(func() error {
				r.counts.Skipped++
				r.options.Progress(r.counts)
				return nil
			})
			return nil, nil
		}
		try = results.tries[index]
	}
	if entry.Result != nil {
		r.tell(func() error { r.counts.Submitted++; return nil })
		r.emit(entry.settled(item))
		return nil, nil
	}
	job.ID, job.Tenant, job.Queue = "", r.options.Tenant, r.options.Queue
	job.Program.Reuse = ""
	if r.options.Reuse {
		job.Program.Reuse = r.scope
	}
	// All that is in the stored job must be in the key, for one key with two jobs is refused.
	job.IdempotencyKey = fmt.Sprintf("batch/%s/%s/%s/%d%s", r.scope, key, job.Queue, try, reuseMark(r.options.Reuse))
	job.ID = jobs.KeyedID(job.Tenant, job.IdempotencyKey)
	if err := job.Validate(); err != nil {
		r.tell(func() error { r.counts.Submitted++; return nil })
		r.emit(unjudged(item, err))
		return nil, nil
	}
	return &pending{item: item, job: job, size: min(int64(size), r.options.WindowBytes)}, nil
}

func reuseMark(reuse bool) string {
	if reuse {
		return "/reuse"
	}
	return ""
}

func (r *run) tryAcquire(p *pending) bool {
	if !r.slots.TryAcquire(1) {
		return false
	}
	if !r.bytes.TryAcquire(p.size) {
		r.slots.Release(1)
		return false
	}
	return true
}

func (r *run) acquire(ctx context.Context, p *pending) error {
	if err := r.slots.Acquire(ctx, 1); err != nil {
		return err
	}
	if err := r.bytes.Acquire(ctx, p.size); err != nil {
		r.slots.Release(1)
		return err
	}
	return nil
}

func (r *run) release(p *pending) {
	r.mu.Lock()
	delete(r.flying, p.job.ID)
	r.mu.Unlock()
	if !p.left {
		r.untrack(p.job.ID)
	}
	r.unhold(p)
}

// unhold gives the place in the window free of a job that may be in flight.
func (r *run) unhold(p *pending) {
	r.bytes.Release(p.size)
	r.slots.Release(1)
}

// describe numbers things for people.
func describe(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
