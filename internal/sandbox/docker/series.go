package docker

import (
	"context"
	"errors"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// RunTests compiles a program once and runs it on the tests that next gives, one after the other
// and each with nothing left of the others. It calls next with what became of the test before, nil
// at first, in the caller's goroutine, until next returns false; the time in next is nobody's. A test
// that is canceled does not come back: its output is in the Result.
//
// The Result tells how the whole went: ok when next had enough, whatever became of its tests, or compile_error,
// canceled, or rejected, also for a test that asks for what is not allowed. Program.Stdin is not used;
// Program.OnOutput hears of the compile step and of every test; Program.Outputs are files that the last test left, beside
// those that each test's own Outputs ask for.
// Errors are those of Run; then all tests have to be run again.
//
// All tests run in one container, unless a test destroys it or leaves something that cannot be
// removed. The tests after it then have a fresh one, for which the program is compiled again.
func (r *Runner) RunTests(
	ctx context.Context, p sandbox.Program, next func(previous *sandbox.TestResult) (sandbox.Test, bool),
) (sandbox.Result, error) {
	p.Stdin = nil
	tests := &series{next: next}
	defer tests.giveUp()
	return r.execute(ctx, p, tests)
}

// giveUp closes the output of a test that has no result, and that perhaps never began: others may wait for it.
func (s *series) giveUp() {
	if s.pending != nil {
		s.pending.talk.closeOutput()
	}
}

// errUnclean means that a container could not be made ready for the next test.
var errUnclean = errors.New("container cannot be used for a further test")

// series is the tests of one program, over as many containers as they need. It is for one goroutine.
type series struct {
	next     func(previous *sandbox.TestResult) (sandbox.Test, bool)
	program  sandbox.Program
	prepared sandbox.Prepared
	maxima   sandbox.Limits

	previous *sandbox.TestResult
	// pending is the test that next gave and that has no result yet; running tells that a container has it.
	pending *testCase
	running bool
	// over tells that next gave no more, and refused why a test that it gave cannot run.
	over    bool
	refused error
	// ran counts the tests of the present container; spent tells that its time is over.
	ran   int
	spent bool
	// odd tells that one of them ended so that the container is not used for another program.
	odd bool
	// network is what was done with it in all containers, or nil if there is none.
	network *sandbox.NetworkUse
}

// begin starts over with a fresh container.
func (s *series) begin(p sandbox.Program, prepared sandbox.Prepared, maxima sandbox.Limits) {
	if p.Hold > 0 { // its limits are the caller's, and those of its tests are checked against what is allowed
		maxima.WallTime, maxima.CPUTime = max(maxima.WallTime, prepared.Limits.WallTime), max(maxima.CPUTime, prepared.Limits.CPUTime)
	}
	s.program, s.prepared, s.maxima = p, prepared, maxima
	s.running, s.ran, s.spent, s.odd = false, 0, false, false
}

// take returns the test to run next, or nil if there is none.
func (s *series) take() *testCase {
	if s.pending != nil || s.over {
		return s.pending
	}
	test, more := s.next(s.previous)
	if !more {
		s.over = true
		return nil
	}
	if s.pending, s.refused = s.newCase(test); s.refused != nil {
		s.over = true
	}
	return s.pending
}

// done notes what became of the pending test.
func (s *series) done(r sandbox.Result) {
	s.pending.talk.end()
	result := sandbox.NewTestResult(s.pending.id, r)
	s.previous, s.pending, s.running = &result, nil, false
	s.ran++
}

// conclude looks at the end of a container, and makes r the result of the whole unless there
// are tests left that can run in another one.
func (s *series) conclude(r *sandbox.Result) (concluded bool) {
	r.Network = s.network
	if s.running && r.Outcome != sandbox.OutcomeCanceled { // the test took the sandbox with it
		s.done(*r)
		r.Files, r.RefusedFiles = nil, nil // they are the test's
		s.take()
	} else if !s.over && !s.spent {
		return true // it never came to tests, or someone canceled
	}
	switch {
	case s.refused != nil:
		*r = whole(*r, rejected(s.refused))
	case s.over:
		*r = whole(*r, sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true})
	default:
		return false
	}
	return true
}

// toldConnections is how many connections a result tells one by one, over all containers.
const toldConnections = 100

// count adds what was done with the network in a container that has ended.
func (s *series) count(use *sandbox.NetworkUse) {
	if s == nil || use == nil {
		return
	}
	if s.network == nil {
		s.network = &sandbox.NetworkUse{}
	}
	sum := s.network
	told := min(len(use.Connections), max(0, toldConnections-len(sum.Connections)))
	sum.Connections = append(sum.Connections, use.Connections[:told]...)
	sum.More += use.More + int64(len(use.Connections)-told)
	sum.Refused += use.Refused
	sum.Sent += use.Sent
	sum.Received += use.Received
}

// whole is the result end with what the last container of a series tells.
func whole(last, end sandbox.Result) sandbox.Result {
	end.StartupTime, end.Compile, end.Enforcement = last.StartupTime, last.Compile, last.Enforcement
	end.Files, end.RefusedFiles, end.Network = last.Files, last.RefusedFiles, last.Network
	return end
}
