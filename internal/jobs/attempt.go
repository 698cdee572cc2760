package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// attempt is a run of a job that is under way in this worker.
type attempt struct {
	ref       ref
	token     string
	number    int
	started   time.Time
	submitted time.Time
	queue     Queue // the job's
	forwarded bool  // the task came by the worker's own queue
	job       Job
	cancel    context.CancelCauseFunc
	begun     atomic.Bool // the worker owns the job, or did
	revoked   atomic.Bool // a hint said that somebody canceled the job
	span      trace.Span
	stored    *sandbox.Result // what the attempt ended its job with, nil if it did not
}

// register makes the attempt known to the heartbeat and to cancel hints.
func (w *Worker) register(a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attempts[a.token] = a
	if w.ending {
		a.cancel(ErrShutdown)
	}
}

// endAttempts ends what is under way, and what a task that was taken before starts yet.
func (w *Worker) endAttempts() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = true
	for _, a := range w.attempts {
		a.cancel(ErrShutdown)
	}
}

func (w *Worker) unregister(a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.attempts, a.token)
}

// snapshot lists the attempts that are under way.
func (w *Worker) snapshot() []*attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	attempts := make([]*attempt, 0, len(w.attempts))
	for _, a := range w.attempts {
		attempts = append(attempts, a)
	}
	return attempts
}

// execute runs or judges the program of an attempt, with its live output if somebody may follow.
func (w *Worker) execute(ctx context.Context, a *attempt) (e ending, err error) {
	// Who can write to Redis can store a job that no Client would have accepted.
	if err := a.job.Validate(); err != nil {
		return ending{Result: ourResult(sandbox.OutcomeRejected, err.Error())}, nil
	}
	program := a.job.Program
	program.ID, program.Attempt, program.Tenant = a.ref.ID, a.number, a.job.Tenant
	program.Reuse = tenantBatch(a.job.Tenant, program.Reuse)
	if a.number > 1 {
		if err := w.options.Runner.KillOlder(ctx, a.ref.ID, a.number); err != nil {
			w.log.WarnContext(ctx, "older attempts not killed", "job", a.ref.ID, "attempt", a.number, "error", err)
		}
	}
	if a.job.Follow {
		output := newOutputWriter(ctx, w.store, a.ref.ID, a.number)
		defer output.close()
		program.OnOutput = output.write
	}
	if a.job.Grade != nil {
		return w.judge(ctx, program, *a.job.Grade)
	}
	if a.job.Session != nil {
		return w.runInSession(ctx, a, program)
	}
	err = w.safely(ctx, "runner", a.ref.ID, func() (err error) {
		e.Result, err = w.options.Runner.Run(ctx, program)
		return err
	})
	return e, err
}

// safely turns a panic of the runner or judge into an error, since it is our failure.
func (w *Worker) safely(ctx context.Context, who, id string, run func() error) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			w.log.ErrorContext(ctx, who+" panicked", "job", id, "panic", problem, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s panicked: %v", who, problem)
		}
	}()
	return run()
}

// storeTime bounds how long a worker tries to write what became of a job. After it the job
// is put back as if the worker had died.
const storeTime = 10 * time.Minute

// errUnsettled means that Redis does not know what became of an attempt. The job stays in
// the running set, from where the next heartbeat or another worker puts it back.
var errUnsettled = errors.New("outcome not written")

// insist tries what must not be lost until it works. It gives up after storeTime and when the
// worker has no more time itself; the error is errUnsettled then.
func (w *Worker) insist(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := do(ctx)
		if err == nil {
			return nil
		}
		w.log.WarnContext(ctx, "redis does not do its part, will try again", "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errUnsettled, err)
		case <-w.closing:
			return fmt.Errorf("%w: %w: %w", errUnsettled, ErrShutdown, err)
		}
	}
}
