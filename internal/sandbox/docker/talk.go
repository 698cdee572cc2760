package docker

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// talk connects a test in a container with its caller. All but copy is for the goroutine of the session.
type talk struct {
	input  io.Reader
	output io.WriteCloser // nil once it is closed
	begun  bool

	mu     sync.Mutex
	change *sync.Cond
	w      *wire.Writer // of the present container
	credit int
	over   bool // nothing more is sent
}

// newTalk returns nil for a test that does not talk.
func newTalk(t *sandbox.Talk) *talk {
	if t == nil {
		return nil
	}
	talking := &talk{input: t.Input, output: t.Output}
	talking.change = sync.NewCond(&talking.mu)
	return talking
}

// grant lets so many bytes more go to sandbox-init. The first time it starts to read the input, which
// no other container can have after that.
func (t *talk) grant(w *wire.Writer, payload []byte) error {
	if t == nil || len(payload) != 4 {
		return fmt.Errorf("%w: of no test that talks", errProtocol)
	}
	t.mu.Lock()
	t.w, t.credit = w, t.credit+int(min(binary.BigEndian.Uint32(payload), wire.InputWindow))
	t.change.Signal()
	t.mu.Unlock()
	if !t.begun {
		t.begun = true
		go t.copy()
	}
	return nil
}

// copy sends the input until it or the test ends. Nobody waits for it, because it may be reading then: that
// returns when the caller lets it, and what was read is dropped.
func (t *talk) copy() {
	buf := make([]byte, wire.ChunkSize)
	for {
		allowed := t.await()
		if allowed == 0 {
			return
		}
		n, err := t.input.Read(buf[:min(allowed, len(buf))])
		if n > 0 {
			t.send(wire.TypeInput, buf[:n])
		}
		if err != nil {
			t.send(wire.TypeInputEnd, nil)
			return
		}
	}
}

// await waits until something may be sent and returns how much, or 0 when the test is over.
func (t *talk) await() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.credit == 0 && !t.over {
		t.change.Wait()
	}
	if t.over {
		return 0
	}
	return t.credit
}

// send sends a frame unless the test is over: then it would belong to the next. An error shows in what is received.
func (t *talk) send(kind wire.Type, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.credit -= len(data)
		_ = t.w.Write(kind, data)
	}
}

// write passes on a piece of stdout. What is not wanted is dropped.
func (t *talk) write(data []byte) {
	if t != nil && t.output != nil {
		_, _ = t.output.Write(data)
	}
}

// closeOutput tells that no more of stdout comes.
func (t *talk) closeOutput() {
	if t != nil && t.output != nil {
		_ = t.output.Close()
		t.output = nil
	}
}

// end is for a test that has its result.
func (t *talk) end() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.over = true
	t.change.Signal()
	t.mu.Unlock()
	t.closeOutput()
}

// lose is for a test whose container has ended. One that had not begun can have another container.
func (t *talk) lose() {
	if t != nil && t.begun {
		t.end()
	}
}
