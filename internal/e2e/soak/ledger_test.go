//go:build soak

package soak_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// ledger knows the jobs of a run that were accepted.
type ledger struct {
	mu      sync.Mutex
	ids     []string
	waiting map[string]bool
	errands sync.WaitGroup
}

func newLedger() *ledger { return &ledger{waiting: map[string]bool{}} }

// add notes a job and has somebody wait for it.
func (l *ledger) add(id string, await func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, id)
	l.waiting[id] = true
	l.later(await)
}

// later does something beside the producers, which wait waits for.
func (l *ledger) later(do func()) { l.errands.Go(do) }

// done notes that a job has its result.
func (l *ledger) done(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
}

func (l *ledger) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// all are the ids of the jobs in the order in which they were accepted.
func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.ids...)
}

// oneOf is one of the latest jobs that wait or run, or empty.
func (l *ledger) oneOf(random *rand.Rand) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var waiting []string
	for _, id := range l.ids[max(0, len(l.ids)-50):] {
		if l.waiting[id] {
			waiting = append(waiting, id)
		}
	}
	if len(waiting) == 0 {
		return ""
	}
	return waiting[random.IntN(len(waiting))]
}

// wait returns when every job has its result and every errand is done, as errands are soon once the run's context has ended.
func (l *ledger) wait() { l.errands.Wait() }

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
