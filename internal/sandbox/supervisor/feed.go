package supervisor

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// feed is the standard input of a test that talks: a pipe, and what has come for it and did not fit. That is at most
// a window, because the worker gets credit only for what the program has taken, so that neither waits for
// a program that does not read.
type feed struct {
	out  *wire.Writer
	pipe *os.File      // our end; nil until open
	done chan struct{} // closed when run has ended

	mu    sync.Mutex
	wake  *sync.Cond
	queue []byte // one buffer, because small pieces would cost far more than what is in them
	owed  int    // bytes that came and that no credit was given for again
	ended bool   // nothing more comes: the worker said so, or the test is over
	over  bool   // the test is over, and what is queued with it
}

// feedPiece is how much is written to the pipe at once.
const feedPiece = 32 << 10

func newFeed(out *wire.Writer) *feed {
	f := &feed{out: out, done: make(chan struct{})}
	f.wake = sync.NewCond(&f.mu)
	return f
}

// open makes the pipe, gives the worker its first credit and returns the program's end.
func (f *feed) open() (*os.File, error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	programs := os.NewFile(uintptr(ends[0]), "stdin")
	pipe, err := pollable(ends[1], "input")
	if err != nil {
		_, _ = programs.Close(), syscall.Close(ends[1])
		return nil, err
	}
	f.pipe = pipe
	go f.run()
	return programs, nil
}

// take gets what the worker sent. It never waits. Its error means that the worker had no credit.
func (f *feed) take(kind wire.Type, payload []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return nil
	}
	if f.owed += len(payload); f.owed > wire.InputWindow {
		return fmt.Errorf("%d bytes of input at once: want at most %d", f.owed, wire.InputWindow)
	}
	f.queue = append(f.queue, payload...)
	f.ended = f.ended || kind == wire.TypeInputEnd
	f.wake.Signal()
	return nil
}

// next waits for a piece, or for the end. What comes later does not change the piece.
func (f *feed) next() (piece []byte, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.ended {
		f.wake.Wait()
	}
	if f.over || len(f.queue) == 0 {
		return nil, false
	}
	size := min(len(f.queue), feedPiece)
	piece, f.queue = f.queue[:size], f.queue[size:]
	return piece, true
}

// run writes what comes to the pipe, and drops it once nobody can read that any more.
func (f *feed) run() {
	defer close(f.done)
	f.credit(wire.InputWindow)
	var closed error
	taken := 0
	for {
		piece, more := f.next()
		if !more {
			_ = f.pipe.Close()
			return
		}
		if closed == nil {
			_, closed = f.pipe.Write(piece)
		}
		// A frame for each piece would cost as much as the piece; a half of the window is enough to go on with.
		if taken += len(piece); taken >= wire.InputWindow/2 {
			f.mu.Lock()
			f.owed -= taken
			f.mu.Unlock()
			f.credit(taken)
			taken = 0
		}
	}
}

// credit lets the worker send so many bytes more. If it is gone, this process ends.
func (f *feed) credit(bytes int) {
	_ = f.out.Write(wire.TypeCredit, binary.BigEndian.AppendUint32(nil, uint32(bytes))) //nolint:gosec // at most the window
}

// close ends it with its test. It returns once nothing is sent any more, and can be called whether it was opened or not.
func (f *feed) close() {
	f.mu.Lock()
	f.over, f.ended, f.queue = true, true, nil
	f.wake.Signal()
	f.mu.Unlock()
	if f.pipe != nil {
		_ = f.pipe.Close() // ends a write that waits
		<-f.done
	}
}
