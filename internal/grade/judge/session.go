package judge

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// sessionAge is the age at which a session takes no further request. It is well below that at which its
// container ends by itself.
const sessionAge = 5 * time.Minute

// session is a check program in a sandbox that stays open: one series of tests of the Runner, whose
// tests are requests of many submissions, one at a time.
type session struct {
	sessions *sessions
	program  checkProgram
	born     time.Time
	cancel   context.CancelCauseFunc
	// requests holds the request to serve next. Only who has taken the session from the idle ones, or made it, puts one in.
	requests chan *request
	// retire is closed when the session was taken from the idle ones to end.
	retire chan struct{}
	// current is the request being served. It belongs to the goroutine of the session.
	current *request
}

// request is one run of a check program.
type request struct {
	test sandbox.Test
	// ended, if not nil, is called when the run has ended, before done is closed.
	ended func()
	// begun is closed when the sandbox is up and the run about to start, at the time from.
	begun chan struct{}
	from  time.Time
	// done is closed when the rest is set: the result, that of the whole session if the program cannot be run, and
	// when it came, or why there is none.
	done   chan struct{}
	result sandbox.Result
	came   time.Time
	err    error
}

func newRequest(test sandbox.Test) *request {
	return &request{test: test, begun: make(chan struct{}), done: make(chan struct{})}
}

// wait waits for the end of the run or of ctx. In the latter case the run goes on, and nobody hears of it.
func (r *request) wait(ctx context.Context) (sandbox.Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return sandbox.Result{}, context.Cause(ctx)
	}
}

func (r *request) finish(result sandbox.Result, err error) {
	r.result, r.err, r.came = result, err, time.Now()
	if r.ended != nil {
		r.ended()
	}
	close(r.done)
}

// run serves requests until the session has been idle for long, is closed or breaks.
func (s *session) run(ctx context.Context) {
	defer s.cancel(nil)
	whole, err := s.series(ctx)
	s.sessions.forget(s)
	pending := s.current
	if pending == nil {
		select {
		case pending = <-s.requests:
		default:
		}
	}
	if pending == nil {
		if err != nil && ctx.Err() == nil {
			s.sessions.log.WarnContext(ctx, "the sandbox of a checker was lost while it waited", "checker", s.program.name, "error", err)
		}
		return
	}
	if err == nil && whole.Outcome != sandbox.OutcomeCompileError && whole.Outcome != sandbox.OutcomeRejected {
		err = fmt.Errorf("the runner ended a series of tests with the outcome %s: %s", whole.Outcome, whole.Message)
	}
	pending.finish(whole, err)
}

// series turns a panic of the runner into an error, since it must not end the whole process.
func (s *session) series(ctx context.Context) (whole sandbox.Result, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			s.sessions.log.ErrorContext(ctx, "runner panicked", "checker", s.program.name, "panic", problem, "stack", string(debug.Stack()))
			err = fmt.Errorf("runner panicked: %v", problem)
		}
	}()
	return s.sessions.runner.RunTests(ctx, s.program.program, func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		return s.next(ctx, previous)
	})
}

// next answers the current request and waits for another.
func (s *session) next(ctx context.Context, previous *sandbox.TestResult) (sandbox.Test, bool) {
	if previous != nil {
		served := s.current
		s.current = nil
		goesOn := s.sessions.park(s) // before the answer, so that whoever gets it finds this session
		served.finish(asResult(*previous), nil)
		if !goesOn {
			return sandbox.Test{}, false
		}
	}
	if s.current = s.await(ctx); s.current == nil {
		return sandbox.Test{}, false
	}
	s.current.from = time.Now()
	close(s.current.begun)
	return s.current.test, true
}

// await waits for a request, or returns nil when the session has to end.
func (s *session) await(ctx context.Context) *request {
	idle := time.NewTimer(s.sessions.idleTime)
	defer idle.Stop()
	select {
	case r := <-s.requests:
		return r
	case <-s.retire:
		return nil
	case <-idle.C:
	case <-ctx.Done():
	}
	if s.sessions.forget(s) {
		return nil
	}
	// It was taken or retired at this very moment.
	select {
	case r := <-s.requests:
		return r
	case <-s.retire:
		return nil
	}
}

// errClosed is why a session of a closed Judge ends.
var errClosed = errors.New("judge is closed")
