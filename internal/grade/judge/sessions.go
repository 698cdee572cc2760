package judge

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// sessions are the sandboxes of check programs, shared by all submissions of a worker. There are never more
// of a program than requests at once.
type sessions struct {
	runner   Runner
	log      *slog.Logger
	idleTime time.Duration
	maxIdle  int
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	all    map[*session]bool
	// idle are those that wait for a request, the one first that waits longest.
	idle []*session
}

func newSessions(options Options) *sessions {
	return &sessions{
		runner: options.Runner, log: options.Log, idleTime: options.SessionIdle, maxIdle: options.IdleSessions,
		all: map[*session]bool{},
	}
}

// ask runs a check program on a test and returns what became of it. An error means that our machinery
// failed or that ctx ended, which ends only the waiting.
func (s *sessions) ask(ctx context.Context, p checkProgram, test sandbox.Test) (sandbox.Result, error) {
	r := newRequest(test)
	if err := s.send(ctx, p, r); err != nil {
		return sandbox.Result{}, err
	}
	return r.wait(ctx)
}

// send gives the request to an idle session of the program or to a new one. That it serves others
// after this request is why it does not end with ctx.
func (s *sessions) send(ctx context.Context, p checkProgram, r *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	for i, idle := range slices.Backward(s.idle) {
		if idle.program.key == p.key {
			s.idle = slices.Delete(s.idle, i, i+1)
			idle.requests <- r
			return nil
		}
	}
	ctx = trace.ContextWithSpan(context.WithoutCancel(ctx), nil) // nor does it belong into the trace of one submission
	ctx, cancel := context.WithCancelCause(ctx)
	fresh := &session{
		sessions: s, program: p, born: time.Now(), cancel: cancel,
		requests: make(chan *request, 1), retire: make(chan struct{}),
	}
	fresh.requests <- r
	s.all[fresh] = true
	s.running.Go(func() { fresh.run(ctx) })
	return nil
}

// park puts a session among the idle ones, unless it has to end. Beyond maxIdle the one ends that waits longest.
func (s *sessions) park(idle *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || time.Since(idle.born) > sessionAge {
		return false
	}
	s.idle = append(s.idle, idle)
	if len(s.idle) > s.maxIdle {
		close(s.idle[0].retire)
		s.idle = slices.Delete(s.idle, 0, 1)
	}
	return true
}

// forget takes a session out, so that nobody gives it a request any more. It reports whether it was idle.
func (s *sessions) forget(ending *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.idle, ending)
	if at >= 0 {
		s.idle = slices.Delete(s.idle, at, at+1)
	}
	delete(s.all, ending)
	return at >= 0
}

func (s *sessions) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for open := range s.all {
		open.cancel(errClosed)
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close judge: sandboxes of checkers are still there: %w", context.Cause(ctx))
	}
}
