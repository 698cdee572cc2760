package batch

import (
	"errors"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// isFull tells whether a job was refused because too much waits, and for how long to wait; 0 is for ever.
func isFull(err error) (wait time.Duration, full bool) {
	var refusal *jobs.QuotaError
	if !errors.As(err, &refusal) {
		return 0, false
	}
	return refusal.RetryAfter, true
}

// neverFits tells whether a job was refused because it is larger than all that may wait.
func neverFits(err error) bool {
	wait, full := isFull(err)
	return full && wait == 0
}

// hindered says what keeps jobs from the queue, once each time, and returns how long to wait: pause if Redis does not do its part.
func (r *run) hindered(err error, pause time.Duration) time.Duration {
	wait, full := isFull(err)
	if !full {
		r.trouble(&r.outage.submitting, err)
		return pause
	}
	r.calm(&r.outage.submitting)
	if r.full.CompareAndSwap(false, true) {
		r.notice("%v: the batch goes on then", err)
	}
	return wait
}

// unhindered takes back what hindered said.
func (r *run) unhindered() {
	r.full.Store(false)
	r.calm(&r.outage.submitting)
}
