package docker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// sweepPeriod is how often the pool looks for boxes that are old or dead.
const sweepPeriod = 15 * time.Second

// pool keeps boxes that were started ahead of need. No user code has run in any of them, and
// one that was taken never comes back.
type pool struct {
	size, total int
	maxAge      time.Duration
	// start makes a box; drop removes one.
	start func(context.Context, shape) (*box, error)
	drop  func(context.Context, *box)

	// wake tells run to fill up.
	wake chan struct{}
	// filling is held by the one sweep that goes on.
	filling sync.Mutex

	mu      sync.Mutex
	shelves map[shape]*shelf
	// exact has the runtimes that refuse updates: of theirs only a box with the very same limits fits.
	exact  map[string]bool
	closed bool
}

// shelf holds the boxes that can serve the same jobs.
type shelf struct {
	boxes []*box
	// want are the limits of the next box: those that the last job had.
	want shape
	used time.Time
	// pinned shelves are kept filled although nobody uses them.
	pinned bool
}

func newPool(o Options, start func(context.Context, shape) (*box, error), drop func(context.Context, *box)) *pool {
	return &pool{
		size: o.PoolSize, total: o.WarmTotal, maxAge: o.WarmAge, start: start, drop: drop,
		wake: make(chan struct{}, 1), shelves: map[shape]*shelf{}, exact: map[string]bool{},
	}
}

// take returns a box of the shape's key, or nil. Its limits may be others than the shape's if
// the runtime allows updates. The pool learns that boxes of this shape are wanted.
func (p *pool) take(s shape) *box {
	if p.size == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	wanted := p.wantLocked(s)
	best := -1
	for i, b := range wanted.boxes {
		if time.Since(b.created) < p.maxAge && (b.shape == s || (best < 0 && !p.exact[s.runtime])) {
			best = i
			if b.shape == s {
				break
			}
		}
	}
	if best < 0 {
		return nil
	}
	b := wanted.boxes[best]
	wanted.boxes = append(wanted.boxes[:best:best], wanted.boxes[best+1:]...)
	return b
}

// pin tells the pool to have boxes of a shape from now on.
func (p *pool) pin(s shape) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wantLocked(s).pinned = true
}

func (p *pool) wantLocked(s shape) *shelf {
	at := p.shelfOf(s)
	found := p.shelves[at]
	if found == nil {
		found = &shelf{}
		p.shelves[at] = found
	}
	found.want, found.used = s, time.Now()
	return found
}

// shelfOf is where boxes of a shape are: what an update can change does not count.
func (p *pool) shelfOf(s shape) shape {
	if !p.exact[s.runtime] {
		s.resources = resources{}
	}
	return s
}

// refuseUpdates makes the pool give out only boxes of a runtime with exactly the right limits.
func (p *pool) refuseUpdates(runtime string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exact[runtime] {
		return
	}
	p.exact[runtime] = true
	for at, s := range maps.Clone(p.shelves) {
		if at.runtime != runtime {
			continue
		}
		delete(p.shelves, at)
		moved := p.wantLocked(s.want)
		moved.used, moved.pinned = s.used, s.pinned
		for _, b := range s.boxes {
			own := p.shelves[b.shape]
			if own == nil {
				own = &shelf{want: b.shape, used: s.used}
				p.shelves[b.shape] = own
			}
			own.boxes = append(own.boxes, b)
		}
	}
}

// poke lets run fill up what was taken.
func (p *pool) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run keeps the pool filled until ctx ends. failed is told of each sweep that did not succeed.
func (p *pool) run(ctx context.Context, failed func(error)) {
	ticker := time.NewTicker(sweepPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.discard(ctx)
		case <-p.wake:
		}
		if err := p.fill(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// fill starts boxes, one after the other, until no shelf lacks one. A shelf that fails does not stop the others.
func (p *pool) fill(ctx context.Context) error {
	p.filling.Lock()
	defer p.filling.Unlock()
	var errs []error
	failed := map[shape]bool{}
	for ctx.Err() == nil {
		s, found := p.lacking(failed)
		if !found {
			break
		}
		b, err := p.start(ctx, s)
		if err != nil {
			failed[s] = true
			errs = append(errs, err)
			continue
		}
		if evicted := p.put(b); evicted != nil {
			p.drop(ctx, evicted)
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// lacking returns the shape of a box that should be there and is not. Shelves share the
// total in the order in which they were last used, so that the oldest get nothing.
func (p *pool) lacking(failed map[shape]bool) (shape, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return shape{}, false
	}
	budget := p.total
	for _, s := range p.byUse() {
		share := min(p.size, budget)
		if len(s.boxes) < share && !failed[s.want] {
			return s.want, true
		}
		budget -= share
	}
	return shape{}, false
}

// byUse lists the shelves, the last used first.
func (p *pool) byUse() []*shelf {
	return slices.SortedFunc(maps.Values(p.shelves), func(a, b *shelf) int { return b.used.Compare(a.used) })
}

// put adds a box and returns the one that is too many, if any: b itself when its shelf is
// gone, else the oldest of the shelf that was not used for longest.
func (p *pool) put(b *box) *box {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.shelves[p.shelfOf(b.shape)]
	if p.closed || own == nil {
		return b
	}
	own.boxes = append(own.boxes, b)
	count := 0
	var last *shelf
	for _, s := range p.byUse() {
		count += len(s.boxes)
		if len(s.boxes) > 0 {
			last = s
		}
	}
	if count <= p.total {
		return nil
	}
	evicted := last.boxes[0]
	last.boxes = last.boxes[1:]
	return evicted
}

// discard drops boxes that are too old or whose container died, and forgets shelves
// that nobody used for as long as a box may live.
func (p *pool) discard(ctx context.Context) {
	p.mu.Lock()
	var gone []*box
	for k, s := range p.shelves {
		forgotten := !s.pinned && time.Since(s.used) >= p.maxAge
		var kept []*box
		for _, b := range s.boxes {
			if time.Since(b.created) < p.maxAge && !forgotten && b.alive() {
				kept = append(kept, b)
			} else {
				gone = append(gone, b)
			}
		}
		s.boxes = kept
		if forgotten {
			delete(p.shelves, k)
		}
	}
	p.mu.Unlock()
	for _, b := range gone {
		p.drop(ctx, b)
	}
}

// close stops the pool from giving and keeping, and returns what it held.
func (p *pool) close() []*box {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var all []*box
	for _, s := range p.shelves {
		all = append(all, s.boxes...)
	}
	p.shelves = map[shape]*shelf{}
	return all
}

// count is how many boxes wait.
func (p *pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := 0
	for _, s := range p.shelves {
		count += len(s.boxes)
	}
	return count
}
