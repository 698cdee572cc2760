package supervisor

import (
	"io"
	"sync"
)

// capture keeps of a stream the first half of limit bytes as they come and the last half in a ring,
// and counts everything, so that its memory is flat whatever a program writes.
type capture struct {
	killAt int64         // total past which over is closed, 0 for never
	over   chan struct{} // closed once, by write
	wake   func()        // called after each write
	live   *liveOutput   // if not nil, gets all that is drained at once; next then returns nothing

	mu    sync.Mutex
	head  []byte
	sent  int // how much of head next has returned
	ring  ring
	total int64
}

func newCapture(limit, killAt int64, wake func()) *capture {
	headSize := (limit + 1) / 2
	return &capture{
		killAt: killAt, over: make(chan struct{}), wake: wake,
		head: newPages(int(headSize)), ring: ring{size: int(limit - headSize)},
	}
}

// release gives the memory back. What next and tail returned is not valid any more.
func (c *capture) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	freePages(c.head)
	freePages(c.ring.buf)
	c.head, c.ring = nil, ring{}
}

// drain reads until the last writer of the stream is gone. Unless it is live, the program never
// waits for whoever receives the output.
func (c *capture) drain(r io.Reader, buf []byte) error {
	for {
		n, err := r.Read(buf)
		if n > 0 {
			kept := c.write(buf[:n])
			if err := c.live.send(buf[:kept], buf[kept:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return c.live.end()
		}
		if err != nil {
			return err
		}
	}
}

// write returns how much of p is kept in the head.
func (c *capture) write(p []byte) (kept int) {
	c.mu.Lock()
	before := c.total
	c.total += int64(len(p))
	passed := c.killAt > 0 && before <= c.killAt && c.total > c.killAt
	kept = min(len(p), cap(c.head)-len(c.head))
	c.head = append(c.head, p[:kept]...)
	if c.live != nil {
		c.sent = len(c.head)
	}
	c.ring.write(p[kept:])
	c.mu.Unlock()
	if passed {
		close(c.over)
	}
	if kept > 0 && c.live == nil {
		c.wake()
	}
	return kept
}

// next returns up to size bytes of the head that it has not returned before. They
// stay valid, because head never moves nor changes.
func (c *capture) next(size int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	piece := c.head[c.sent:min(len(c.head), c.sent+size)]
	c.sent += len(piece)
	return piece
}

// unsent is how much next would still return.
func (c *capture) unsent() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.head) - c.sent
}

// tail returns what the ring kept, in order, in one or two pieces.
func (c *capture) tail() (first, second []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ring.contents()
}

// count is how much the stream has had.
func (c *capture) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// ring keeps the last size bytes written to it. Its memory is taken at the first write.
type ring struct {
	size int
	buf  []byte
	next int // where the next byte goes once buf is full
}

func (r *ring) write(p []byte) {
	if len(p) == 0 || r.size == 0 {
		return
	}
	if r.buf == nil {
		r.buf = newPages(r.size)
	}
	p = p[max(0, len(p)-r.size):]
	room := min(len(p), r.size-len(r.buf))
	r.buf = append(r.buf, p[:room]...)
	for p = p[room:]; len(p) > 0; {
		n := copy(r.buf[r.next:], p)
		r.next = (r.next + n) % r.size
		p = p[n:]
	}
}

func (r *ring) contents() (first, second []byte) { return r.buf[r.next:], r.buf[:r.next] }
