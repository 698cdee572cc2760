package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Interpreter is one that lives in a container. It is safe for concurrent use.
type Interpreter struct {
	options Options
	runner  Runner
	input   *input
	cancel  context.CancelCauseFunc
	// ready is closed when the driver has said hello, done when the container is gone.
	ready, done chan struct{}
	// turn holds a token while no cell runs.
	turn chan struct{}
	// cells counts them; it belongs to who has the turn.
	cells int

	mu sync.Mutex
	// current is nil between cells.
	current *current
	greeted bool
	// gone tells that the interpreter ended between two cells.
	gone bool
	// oomKills and pidsDenied are those that were told with cells.
	oomKills, pidsDenied int64
	// closed is why we end it; the first reason counts.
	closed error
	// enforced is set before ready is closed.
	enforced sandbox.Enforcement

	// What follows is set before done is closed: how the driver ended, how the whole did, our own failure, and all
	// of it in words.
	ended  *sandbox.TestResult
	whole  sandbox.Result
	err    error
	reason string
}

// startTimeout bounds the time from the start of the driver to its first word.
const startTimeout = 2 * time.Minute

// The reasons for which we end an interpreter.
var (
	errClosed  = errors.New("it was closed")
	errSilent  = errors.New("it did not answer any more")
	errOver    = errors.New("it has ended")
	errStarted = errors.New("it did not start in time")
)

// Start starts an interpreter and waits until it takes cells. ctx bounds the start alone. The error is a *RejectedError
// if what was asked for is to blame, and else our own failure; nothing is left then.
func Start(ctx context.Context, runner Runner, options Options) (*Interpreter, error) {
	options = options.withDefaults()
	program, err := options.program()
	if err != nil {
		return nil, &RejectedError{sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: -1, Message: err.Error()}}
	}
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	i := &Interpreter{
		options: options, runner: runner, input: newInput(), cancel: cancel,
		ready: make(chan struct{}), done: make(chan struct{}), turn: make(chan struct{}, 1),
	}
	i.turn <- struct{}{}
	program.OnStart = func(enforced sandbox.Enforcement) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.enforced = enforced
	}
	go i.serve(life, program)
	late := time.NewTimer(startTimeout)
	defer late.Stop()
	select {
	case <-i.ready:
		return i, nil
	case <-i.done:
		return nil, i.notStarted()
	case <-late.C:
		i.end(errStarted)
	case <-ctx.Done():
		i.end(context.Cause(ctx))
	}
	<-i.done
	return nil, fmt.Errorf("start live interpreter: %w", i.why())
}

// serve runs the driver as the one test of its program, and returns when its container is gone.
func (i *Interpreter) serve(ctx context.Context, program sandbox.Program) {
	defer close(i.done)
	defer func() {
		if problem := recover(); problem != nil { // it must not end the whole process
			i.err = fmt.Errorf("runner panicked: %v\n%s", problem, debug.Stack())
		}
		i.input.close()
		i.cancel(errOver)
		i.reason = i.findReason()
	}()
	output := &output{decoder{frame: i.frame}, i.end}
	given := false
	i.whole, i.err = i.runner.RunTests(ctx, program, func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		if given {
			i.ended = previous
			i.input.close()
			i.cancel(errOver) // the container is then gone when RunTests returns, and not soon after
			return sandbox.Test{}, false
		}
		given = true
		return i.options.test(&sandbox.Talk{Input: i.input, Output: output}), true
	})
}

// output is what the driver's standard output goes to.
type output struct {
	decoder
	fail func(error)
}

// Write ends the interpreter when it is told what it cannot believe.
func (o *output) Write(data []byte) (int, error) {
	n, err := o.decoder.Write(data)
	if err != nil {
		o.fail(err)
	}
	return n, err
}

// Close is called when the driver has closed its output, which ends it.
func (o *output) Close() error { return nil }

// end ends the interpreter. It does not wait.
func (i *Interpreter) end(why error) {
	i.mu.Lock()
	if i.closed == nil {
		i.closed = why
	}
	i.mu.Unlock()
	i.cancel(why)
}

// why is for which reason we ended it, or nil.
func (i *Interpreter) why() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closed
}

// notStarted is the error of an interpreter that ended before it took cells.
func (i *Interpreter) notStarted() error {
	why := i.why()
	switch {
	case i.ended != nil:
		result := i.whole
		ended := *i.ended
		result.Outcome, result.ExitCode, result.Signal, result.Stderr = ended.Outcome, ended.ExitCode, ended.Signal, ended.Stderr
		result.OK, result.Message = false, "the interpreter did not start: "+ended.Message
		return &RejectedError{result}
	case i.err == nil && i.whole.Outcome == sandbox.OutcomeRejected:
		return &RejectedError{i.whole}
	case why != nil:
		return fmt.Errorf("start live interpreter: %w", why)
	case i.err != nil:
		return fmt.Errorf("start live interpreter: %w", i.err)
	}
	return fmt.Errorf("start live interpreter: the runner ended with %s: %s", i.whole.Outcome, i.whole.Message)
}

// Done is closed when the interpreter has ended and its container is gone.
func (i *Interpreter) Done() <-chan struct{} { return i.done }

// Reason is why the interpreter has ended, as a sentence without a capital; empty while it lives.
func (i *Interpreter) Reason() string {
	select {
	case <-i.done:
	default:
		return ""
	}
	return i.reason
}

// findReason is called once, while what the kernel did last has not been told with a cell.
func (i *Interpreter) findReason() string {
	why := i.why()
	switch {
	case i.ended != nil:
		return i.endReason()
	case why != nil:
		return why.Error()
	case i.err != nil:
		return "its sandbox was lost"
	}
	return i.whole.Message
}

// Close ends the interpreter, also in the middle of a cell, and returns when its container is gone.
func (i *Interpreter) Close() {
	i.end(errClosed)
	<-i.done
}
