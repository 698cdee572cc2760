package sessions

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// stopped is why interpreters end with their worker.
const stopped = "its worker was stopped"

// sweepPeriod is how often Watch looks for interpreters whose time is over.
const sweepPeriod = 2 * time.Second

// Watch ends interpreters whose time is over, and those that are not their session's any more, until ctx ends. Then the
// worker stops: no interpreter starts, and each ends as soon as no job has it, so that its session can go on elsewhere.
func (s *Sessions) Watch(ctx context.Context) {
	tick := time.NewTicker(min(sweepPeriod, s.options.IdleTimeout/2))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.retire(ctx)
			return
		case <-tick.C:
			s.sweep(ctx)
		}
	}
}

// sweep looks once at every interpreter that nobody uses.
func (s *Sessions) sweep(ctx context.Context) {
	var all sync.WaitGroup
	for e, used := range s.idle() {
		all.Go(func() {
			if reason := s.over(ctx, e, used); reason != "" {
				s.condemn(ctx, e, reason)
			}
		})
	}
	all.Wait()
}

// over tells why an interpreter that was used last then has to end, or nothing.
func (s *Sessions) over(ctx context.Context, e *entry, used time.Time) string {
	switch {
	case e.ended():
		return e.interpreter.Reason()
	case time.Since(used) > s.options.IdleTimeout:
		return fmt.Sprintf("nobody called it for %s", s.options.IdleTimeout)
	case time.Since(e.started) > s.options.AbsoluteTimeout:
		return fmt.Sprintf("no interpreter lives longer than %s", s.options.AbsoluteTimeout)
	}
	holds, err := s.options.Store.Holds(ctx, e.session, e.nonce)
	switch {
	case err != nil:
		s.log.WarnContext(ctx, "cannot tell whether an interpreter is still its session's", "session", e.session.Name, "error", err)
	case !holds:
		return "the session was deleted or taken over by another worker"
	}
	return ""
}

// retire lets no other interpreter start, and ends those that nobody uses.
func (s *Sessions) retire(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var all sync.WaitGroup
	for e := range s.idle() {
		all.Go(func() { s.condemn(ctx, e, stopped) })
	}
	all.Wait()
}

// Close ends all interpreters, and lets no other one start. The jobs that use them should have ended by then.
func (s *Sessions) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	all := make([]*entry, 0, len(s.shelf))
	for _, e := range s.shelf {
		all = append(all, e)
	}
	s.mu.Unlock()
	var ends sync.WaitGroup
	for _, e := range all {
		ends.Go(func() { s.end(ctx, e, stopped) })
	}
	ends.Wait()
}
