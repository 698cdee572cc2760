package judge

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// errOverflow means that the reader of a pipe is too far behind its writer.
var errOverflow = errors.New("pipe is full")

// pipe is one direction of an interaction. Write never blocks: the bound is the limit on the writer's output, so that
// a program which nobody reads is ended by its limit before the pipe is full.
type pipe struct {
	bound int
	// order numbers the ends of an interaction's pipes as they come.
	order *atomic.Int64

	mu sync.Mutex
	// closed is when the writer closed its end.
	closed moment
	// changed wakes whoever waits in Read.
	changed *sync.Cond
	data    bytes.Buffer
	// over tells that no more comes, and deaf that nobody reads any more.
	over, deaf bool
}

// moment is a time, and the place in the order of moments that the clock cannot tell apart.
type moment struct {
	at    time.Time
	order int64
}

func (m moment) before(other moment) bool {
	return m.at.Before(other.at) || m.at.Equal(other.at) && m.order < other.order
}

func newPipe(bound int, order *atomic.Int64) *pipe {
	p := &pipe{bound: bound, order: order}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// Read waits for data. It returns io.EOF when all was read that was written before Close, or after hangUp.
func (p *pipe) Read(into []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.data.Len() == 0 && !p.over && !p.deaf {
		p.changed.Wait()
	}
	if p.deaf {
		return 0, io.EOF
	}
	return p.data.Read(into)
}

// Write takes all of data or, so that what arrives has no gaps, nothing of it and of what follows.
func (p *pipe) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.deaf || p.over:
		return 0, io.ErrClosedPipe
	case p.data.Len()+len(data) > p.bound:
		p.over = true
		return 0, errOverflow
	}
	p.changed.Broadcast()
	return p.data.Write(data)
}

// Close is the writer's: what was written can still be read.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.at.IsZero() {
		p.closed = moment{time.Now(), p.order.Add(1)}
	}
	p.over = true
	p.changed.Broadcast()
	return nil
}

// hangUp is the reader's: what was written is lost.
func (p *pipe) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
	p.data = bytes.Buffer{}
	p.changed.Broadcast()
}

// end is when the writer closed its end, or zero.
func (p *pipe) end() moment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}
