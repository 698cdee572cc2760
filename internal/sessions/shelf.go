package sessions

import (
	"context"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
)

// take gives the job that has the session its interpreter, or tells why it is not here any more. The error is
// jobs.ErrSessionBusy while a job that lost the session still has it.
func (s *Sessions) take(nonce string) (e *entry, gone string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e = s.shelf[nonce]
	switch {
	case e == nil:
		return nil, "the worker that held the interpreter does not have it any more", nil
	case e.ending != "":
		return nil, e.ending, nil
	case e.busy:
		return nil, "", jobs.ErrSessionBusy
	}
	e.busy = true
	return e, "", nil
}

// put gives an interpreter back. One of a worker that stops ends.
func (s *Sessions) put(ctx context.Context, e *entry) {
	s.mu.Lock()
	e.busy, e.used = false, time.Now()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		s.condemn(ctx, e, stopped)
	}
}

// condemn ends an interpreter unless a job has it or it is being ended.
func (s *Sessions) condemn(ctx context.Context, e *entry, reason string) {
	s.mu.Lock()
	free := !e.busy && e.ending == ""
	if free {
		e.ending = reason
	}
	s.mu.Unlock()
	if free {
		s.end(ctx, e, reason)
	}
}

// idle returns the interpreters that no job has, and when each was used last.
func (s *Sessions) idle() map[*entry]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := map[*entry]time.Time{}
	for _, e := range s.shelf {
		if !e.busy && e.ending == "" {
			idle[e] = e.used
		}
	}
	return idle
}

// reserve takes a place for an interpreter. When all are taken, the one ends that nobody has used for the longest time. The
// error is jobs.ErrSessionBusy when every one is in use or the worker stops.
func (s *Sessions) reserve(ctx context.Context) error {
	s.mu.Lock()
	if s.closed { // another worker takes the job
		s.mu.Unlock()
		return jobs.ErrSessionBusy
	}
	if s.places < s.options.Live {
		s.places++
		s.mu.Unlock()
		return nil
	}
	var oldest *entry
	for _, e := range s.shelf {
		if !e.busy && e.ending == "" && (oldest == nil || e.used.Before(oldest.used)) {
			oldest = e
		}
	}
	if oldest == nil {
		s.mu.Unlock()
		return jobs.ErrSessionBusy
	}
	oldest.ending = "it made room for another session on its worker"
	s.places++ // the new one's; the old one's is given up when that has ended
	s.mu.Unlock()
	s.end(ctx, oldest, oldest.ending)
	return nil
}

// leave gives up a place.
func (s *Sessions) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places--
}

// add puts an interpreter that has a place on the shelf, busy. It reports false when Sessions are closed.
func (s *Sessions) add(e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	e.busy = true
	s.shelf[e.nonce] = e
	return true
}

// end ends an interpreter that nobody else uses, and tells the session why, if it is still that session's.
func (s *Sessions) end(ctx context.Context, e *entry, reason string) {
	if err := s.letGo(ctx, e, reason); err != nil {
		s.log.WarnContext(ctx, "session not told that its interpreter ended", "session", e.session.Name, "nonce", e.nonce, "error", err)
	}
	e.interpreter.Close()
	s.mu.Lock()
	if s.shelf[e.nonce] == e {
		delete(s.shelf, e.nonce)
		s.places--
	}
	s.mu.Unlock()
	s.log.InfoContext(ctx, "live interpreter ended", "session", e.session.Name, "language", e.language, "nonce", e.nonce,
		"reason", reason, "age", time.Since(e.started).Round(time.Second), "calls", e.cells)
}

// letGoTime bounds the word to Redis that an interpreter has ended.
const letGoTime = 5 * time.Second

func (s *Sessions) letGo(ctx context.Context, e *entry, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoTime)
	defer cancel()
	return s.options.Store.LetGo(ctx, e.session, e.nonce, reason)
}
