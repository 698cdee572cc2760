package supervisor

import "github.com/sandloop/sandloop/internal/sandbox/wire"

// liveOutput sends a stream of a test that talks: each piece at once, because someone waits for it
// to answer, and all of it. The program waits where the worker is slow. A nil one sends nothing.
type liveOutput struct {
	out *wire.Writer
	id  byte
}

// send sends what is kept as the head and what comes after that.
func (l *liveOutput) send(kept, rest []byte) error {
	if l == nil {
		return nil
	}
	if len(kept) > 0 {
		if err := l.out.Write(wire.TypeOutput, []byte{l.id}, kept); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return l.out.Write(wire.TypeMore, []byte{l.id}, rest)
	}
	return nil
}

// end tells that nothing more can come.
func (l *liveOutput) end() error {
	if l == nil {
		return nil
	}
	return l.out.Write(wire.TypeOutputEnd, []byte{l.id})
}
