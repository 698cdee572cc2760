package supervisor

import (
	"time"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

const (
	// flushSize and flushDelay bound how long output waits to share a frame with what follows.
	flushSize  = 16 << 10
	flushDelay = 10 * time.Millisecond
)

// streams are the two outputs of a step and the goroutine that sends their heads.
type streams struct {
	out    *wire.Writer
	stdout *capture
	stderr *capture
	wake   chan struct{}
	end    chan struct{} // closed when nothing more comes
	sent   chan error
}

// stream is one of them with its byte on the wire.
type stream struct {
	id []byte
	*capture
}

func newStreams(out *wire.Writer, limit, killAt int64) *streams {
	s := &streams{out: out, wake: make(chan struct{}, 1), end: make(chan struct{}), sent: make(chan error, 1)}
	wake := func() {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	s.stdout, s.stderr = newCapture(limit, killAt, wake), newCapture(limit, killAt, wake)
	return s
}

// sendLive sends heads while the step runs. A slow receiver stops it alone.
func (s *streams) sendLive() {
	var err error
	for ended := false; !ended && err == nil; {
		select {
		case <-s.wake:
		case <-s.end:
			ended = true
		}
		if !ended {
			ended = s.gather()
		}
		err = s.flush()
	}
	s.sent <- err
}

// gather waits until a frame is worth its cost, and reports whether the step has ended.
func (s *streams) gather() (ended bool) {
	timer := time.NewTimer(flushDelay)
	defer timer.Stop()
	for s.stdout.unsent()+s.stderr.unsent() < flushSize {
		select {
		case <-s.wake:
		case <-timer.C:
			return false
		case <-s.end:
			return true
		}
	}
	return false
}

func (s *streams) flush() error {
	for _, stream := range s.both() {
		// Not what comes meanwhile: a program that goes on writing would get a frame for each write.
		for left := stream.unsent(); left > 0; {
			piece := stream.next(min(left, wire.ChunkSize))
			if err := s.out.Write(wire.TypeOutput, stream.id, piece); err != nil {
				return err
			}
			left -= len(piece)
		}
	}
	return nil
}

// finish waits until the heads are sent, and sends the tails. Nothing may be written any more.
func (s *streams) finish() error {
	defer s.stdout.release()
	defer s.stderr.release()
	close(s.end)
	if err := <-s.sent; err != nil {
		return err
	}
	for _, stream := range s.both() {
		first, second := stream.tail()
		for _, part := range [][]byte{first, second} {
			for len(part) > 0 {
				n := min(len(part), wire.ChunkSize)
				if err := s.out.Write(wire.TypeTail, stream.id, part[:n]); err != nil {
					return err
				}
				part = part[n:]
			}
		}
	}
	return nil
}

func (s *streams) both() [2]stream {
	return [2]stream{{[]byte{wire.StreamStdout}, s.stdout}, {[]byte{wire.StreamStderr}, s.stderr}}
}
