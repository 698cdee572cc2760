package docker

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// reuseIdle is how long a container waits for the next job of its batch.
	reuseIdle = 10 * time.Second
	// reuseSweep is how often the shelf looks for those that waited too long.
	reuseSweep = 2 * time.Second
	// reuseTotal bounds the containers that wait, however many jobs ran at once.
	reuseTotal = 64
	// cleanPatience is how long a job waits for a container that is being cleaned, which usually takes
	// a thousandth of that; then it gets another.
	cleanPatience = 250 * time.Millisecond
)

// reuseShelf keeps boxes in which programs of a batch ran, for others of the same batch.
type reuseShelf struct {
	// drop removes a box.
	drop func(context.Context, *box)

	mu      sync.Mutex
	batches map[reuseKey]*batch
	// running is how many jobs with a key run now; most is the highest it ever was, and bounds how many boxes are ready.
	running, most int
	closed        bool
}

// batch is the boxes of one key.
type batch struct {
	ready []*box // the last used last
	// cleaning are those that may become ready, waiting the jobs that count on that: never more.
	cleaning []*box
	waiting  []chan *box
}

func newReuseShelf(drop func(context.Context, *box)) *reuseShelf {
	return &reuseShelf{drop: drop, batches: map[reuseKey]*batch{}}
}

// begin counts a job in, and end out.
func (s *reuseShelf) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	s.most = max(s.most, s.running)
}

func (s *reuseShelf) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// take returns a clean box of the key, or nil. It waits for one that is being cleaned if that is not for another job.
func (s *reuseShelf) take(ctx context.Context, key reuseKey) *box {
	s.mu.Lock()
	of := s.batches[key]
	if of == nil || s.closed {
		s.mu.Unlock()
		return nil
	}
	if last := len(of.ready) - 1; last >= 0 {
		b := of.ready[last]
		of.ready = of.ready[:last]
		s.forgetLocked(key)
		s.mu.Unlock()
		return b
	}
	if len(of.waiting) >= len(of.cleaning) {
		s.mu.Unlock()
		return nil
	}
	mine := make(chan *box, 1)
	of.waiting = append(of.waiting, mine)
	s.mu.Unlock()
	return s.wait(ctx, of, mine)
}

func (s *reuseShelf) wait(ctx context.Context, of *batch, mine chan *box) *box {
	patience := time.NewTimer(cleanPatience)
	defer patience.Stop()
	select {
	case b := <-mine:
		return b
	case <-ctx.Done():
	case <-patience.C:
	}
	s.mu.Lock()
	at := slices.Index(of.waiting, mine)
	if at >= 0 {
		of.waiting = slices.Delete(of.waiting, at, at+1)
	}
	s.mu.Unlock()
	if at < 0 {
		return <-mine // it came at the last moment
	}
	return nil
}

// expect notes that a box is being cleaned. It returns false if it will not be kept.
func (s *reuseShelf) expect(b *box, key reuseKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.batches[key] == nil {
		s.batches[key] = &batch{}
	}
	s.batches[key].cleaning = append(s.batches[key].cleaning, b)
	return true
}

// settle gives an expected box to whoever waits for it, or makes it ready, if it is clean. It returns
// what has to be removed: the box if it is not clean, or the one that was not used for longest if they are too many.
func (s *reuseShelf) settle(b *box, key reuseKey, clean bool) (gone []*box) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return []*box{b}
	}
	defer s.forgetLocked(key)
	of := s.batches[key]
	at := slices.Index(of.cleaning, b)
	of.cleaning = slices.Delete(of.cleaning, at, at+1)
	switch {
	case clean && len(of.waiting) > 0:
		of.waiting[0] <- b
		of.waiting = of.waiting[1:]
		return nil
	case clean:
		b.used = time.Now()
		of.ready = append(of.ready, b)
		return s.evictLocked()
	}
	if last := len(of.waiting) - 1; last >= len(of.cleaning) {
		of.waiting[last] <- nil
		of.waiting = of.waiting[:last]
	}
	return []*box{b}
}

// evictLocked takes out the box that has waited longest, if there are too many.
func (s *reuseShelf) evictLocked() []*box {
	count := 0
	var oldest reuseKey
	var since time.Time
	for key, of := range s.batches {
		count += len(of.ready)
		if len(of.ready) > 0 && (since.IsZero() || of.ready[0].used.Before(since)) {
			oldest, since = key, of.ready[0].used
		}
	}
	if count <= min(s.most, reuseTotal) {
		return nil
	}
	of := s.batches[oldest]
	gone := of.ready[0]
	of.ready = of.ready[1:]
	s.forgetLocked(oldest)
	return []*box{gone}
}

// forgetLocked drops a batch of which there is nothing any more.
func (s *reuseShelf) forgetLocked(key reuseKey) {
	if of := s.batches[key]; of != nil && len(of.ready)+len(of.cleaning)+len(of.waiting) == 0 {
		delete(s.batches, key)
	}
}

// run drops what has waited too long, until ctx ends.
func (s *reuseShelf) run(ctx context.Context) {
	ticker := time.NewTicker(reuseSweep)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.sweep(ctx, now)
		}
	}
}

// sweep drops what has waited for a job since reuseIdle before now.
func (s *reuseShelf) sweep(ctx context.Context, now time.Time) {
	s.mu.Lock()
	var gone []*box
	for key, of := range s.batches {
		idle := 0
		for idle < len(of.ready) && now.Sub(of.ready[idle].used) >= reuseIdle {
			idle++
		}
		gone = append(gone, of.ready[:idle]...)
		of.ready = of.ready[idle:]
		s.forgetLocked(key)
	}
	s.mu.Unlock()
	for _, b := range gone {
		s.drop(ctx, b)
	}
}

// close stops the shelf from giving and keeping, and returns what was ready. What is being cleaned is not waited for.
func (s *reuseShelf) close() []*box {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var ready []*box
	for _, of := range s.batches {
		ready = append(ready, of.ready...)
		for _, b := range of.cleaning {
			b.hangUp()
		}
		for _, waiting := range of.waiting {
			waiting <- nil
		}
	}
	s.batches = map[reuseKey]*batch{}
	return ready
}

// count is how many boxes wait.
func (s *reuseShelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, of := range s.batches {
		count += len(of.ready)
	}
	return count
}
