package live

import (
	"io"
	"sync"
)

// input is what goes to the driver's standard input: an io.Reader of frames that are put in. Putting never waits; what
// is put in is ours and bounded by the limits on a cell.
type input struct {
	mu     sync.Mutex
	change *sync.Cond
	queue  [][]byte
	closed bool
}

func newInput() *input {
	i := &input{}
	i.change = sync.NewCond(&i.mu)
	return i
}

// put adds frames in one go, so that no other frame gets between them.
func (i *input) put(frames ...[]byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.queue = append(i.queue, frames...)
		i.change.Signal()
	}
}

// Read waits for data. It returns io.EOF after close.
func (i *input) Read(into []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.queue) == 0 && !i.closed {
		i.change.Wait()
	}
	if i.closed {
		return 0, io.EOF
	}
	n := copy(into, i.queue[0])
	if i.queue[0] = i.queue[0][n:]; len(i.queue[0]) == 0 {
		i.queue[0] = nil
		i.queue = i.queue[1:]
	}
	return n, nil
}

// close drops what was not read.
func (i *input) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed, i.queue = true, nil
	i.change.Broadcast()
}
