//go:build soak

package soak_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/sandloop/sandloop/internal/e2e/soak"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// producers submit at the same time, each with so many jobs under way at most.
	producers = 4
	inFlight  = 6
	// oneIn is how often a job is canceled, or handed in again.
	oneIn = 6
	// answerTime is what a producer waits for Redis' answer.
	answerTime = 10 * time.Second
)

// produce submits jobs until ctx ends.
func (r *run) produce(ctx context.Context, part uint64) {
	random := r.random(100 + part)
	slots := make(chan struct{}, inFlight)
	for n := int(part); ; n += producers {
		select {
		case <-ctx.Done():
			return
		case slots <- struct{}{}:
		}
		job, want := soak.Plan(random, n)
		cancelAfter, againAfter := sometimes(random), sometimes(random)
		r.record.Add(soak.Event{Kind: soak.Planned, Job: job.ID, Want: &want})
		if !r.submit(job) {
			return
		}
		r.jobs.add(job.ID, func() {
			r.await(job)
			<-slots
		})
		if cancelAfter > 0 {
			r.jobs.later(func() {
				pause(ctx, cancelAfter)
				r.cancel(job.ID)
			})
		}
		if againAfter > 0 {
			r.jobs.later(func() {
				pause(ctx, againAfter)
				r.submitOnce(job)
			})
		}
		pause(ctx, time.Duration(random.IntN(1500))*time.Millisecond)
	}
}

// sometimes is a time up to 8 s, or 0 for most jobs.
func sometimes(random *rand.Rand) time.Duration {
	chosen, after := random.IntN(oneIn) == 0, time.Duration(1+random.IntN(8000))*time.Millisecond
	if !chosen {
		return 0
	}
	return after
}

// submit tries until Redis has confirmed the job, at the end too: Redis may have it although it could not say so. It
// reports false if nothing came of it when all had been mended for long.
func (r *run) submit(job jobs.Job) bool {
	for !r.submitOnce(job) {
		if r.whole.Err() != nil {
			return false
		}
		pause(r.whole, 500*time.Millisecond)
	}
	return true
}

// submitOnce hands a job in, and notes whether it was accepted. The time of submission is that of the first time.
func (r *run) submitOnce(job jobs.Job) bool {
	ctx, cancel := context.WithTimeout(r.whole, answerTime)
	defer cancel()
	got, err := r.lab.Client.Submit(ctx, job)
	if err != nil {
		r.record.Add(soak.Event{Kind: soak.Refused, Job: job.ID, Text: err.Error()})
		return false
	}
	r.record.Add(soak.Event{Kind: soak.Accepted, Job: got.ID, Again: got.Existing})
	return true
}

// await waits for a job's result and notes it. A job that Redis has forgotten is handed in again.
func (r *run) await(job jobs.Job) {
	for r.whole.Err() == nil {
		record, err := r.lab.Client.Await(r.whole, job.ID)
		switch {
		case err == nil:
			r.sight(record)
			r.jobs.done(job.ID)
			return
		case errors.Is(err, jobs.ErrNotFound):
			r.record.Add(soak.Event{Kind: soak.Vanished, Job: job.ID})
			r.submit(job)
		}
	}
}

func (r *run) sight(record jobs.Record) {
	got, err := soak.Of(record)
	if err != nil {
		r.t.Error(err)
		return
	}
	r.record.Add(soak.Event{Kind: soak.Sighted, Job: record.JobID, Got: got})
}

// cancel cancels a job and notes what the confirmation says.
func (r *run) cancel(id string) {
	r.record.Add(soak.Event{Kind: soak.CancelAsked, Job: id})
	ctx, cancel := context.WithTimeout(r.whole, answerTime)
	defer cancel()
	status, err := r.lab.Client.Cancel(ctx, id)
	if err != nil {
		return // not confirmed: it may be canceled all the same
	}
	text := soak.CancelRunning
	switch {
	case status.State == jobs.Done && status.Outcome == sandbox.OutcomeCanceled:
		text = soak.CancelCanceled
	case status.State == jobs.Done:
		text = soak.CancelDone
	}
	r.record.Add(soak.Event{Kind: soak.Canceled, Job: id, Text: text})
}
