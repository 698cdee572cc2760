package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Runner runs programs on tests. RunTests is called from many goroutines.
type Runner interface {
	// RunTests compiles a program once and runs it on the tests that next gives, one after the other. It
	// calls next, in the caller's goroutine, with what became of the test before, nil at first, until next
	// returns false; the time in next is nobody's. The result tells how the whole went: ok when next had enough,
	// compile_error, rejected or canceled. An error means that our own machinery failed, or that ctx ended for
	// another cause than sandbox.ErrCanceled.
	RunTests(
		ctx context.Context, p sandbox.Program, next func(previous *sandbox.TestResult) (sandbox.Test, bool),
	) (sandbox.Result, error)
}

// Blobs keeps what suites and their data are stored in.
type Blobs interface {
	// Get returns the content whose grade.BlobID is id. Nobody changes it.
	Get(ctx context.Context, id string) ([]byte, error)
}

// Options configure a [Judge]. Runner and Blobs must be set.
type Options struct {
	Runner Runner
	Blobs  Blobs
	// Defaults and Maxima are the Runner's; those of the sandbox package when zero.
	Defaults, Maxima sandbox.Limits
	// SessionIdle is how long the sandbox of a validator waits for the next output: 30 s when 0.
	SessionIdle time.Duration
	// IdleSessions bounds how many such sandboxes wait at once: 32 when 0. As many as
	// submissions are judged at once is right.
	IdleSessions int
	// Class tells tenants apart whose check programs must not share a sandbox, such as those for whom the Runner has another
	// runtime or network: they share one if it returns the same for both. nil has all tenants share.
	Class func(tenant string) string
	// Log is where trouble goes that no caller sees; nil is slog.Default().
	Log *slog.Logger
}

const (
	defaultSessionIdle  = 30 * time.Second
	defaultIdleSessions = 32
)

// Judge judges submissions, many at once. Validators' sandboxes are shared between them.
type Judge struct {
	options  Options
	sessions *sessions
}

// New returns a Judge, which must be closed.
func New(options Options) *Judge {
	options.Defaults = cmp.Or(options.Defaults, sandbox.DefaultLimits())
	options.Maxima = cmp.Or(options.Maxima, sandbox.DefaultMaxima())
	options.SessionIdle = cmp.Or(options.SessionIdle, defaultSessionIdle)
	options.IdleSessions = cmp.Or(options.IdleSessions, defaultIdleSessions)
	options.Log = cmp.Or(options.Log, slog.Default())
	if options.Class == nil {
		options.Class = func(string) string { return "" }
	}
	return &Judge{options: options, sessions: newSessions(options)}
}

// Close ends the validators' sandboxes, those at work too, and waits until they are gone or ctx
// ends. It is for when no submission is judged any more, and before the Runner is closed.
func (j *Judge) Close(ctx context.Context) error { return j.sessions.close(ctx) }

// Judge judges a program by a task. The result is that of the whole run, as Runner has it, and the report
// what the job is about; the report is nil if the job was canceled. An error means that our own machinery failed, or that
// ctx ended for another cause than sandbox.ErrCanceled, and that the job can run again.
func (j *Judge) Judge(ctx context.Context, program sandbox.Program, task grade.Task) (sandbox.Result, *grade.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what still talks with the submission
	if err := task.Validate(); err != nil {
		return refused(err)
	}
	suite := task.Suite
	if suite == nil {
		content, err := j.options.Blobs.Get(ctx, task.SuiteBlob)
		if err != nil {
			return failed(ctx, fmt.Errorf("get suite: %w", err))
		}
		if suite, err = grade.DecodeSuite(content); err != nil {
			return refused(err)
		}
	}
	return newSubmission(j, program, suite, task).judge(ctx)
}

// refused is for a task by which nobody can be judged.
func refused(err error) (sandbox.Result, *grade.Report, error) {
	result := sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: exitNone, Message: err.Error()}
	return result, &grade.Report{Verdict: grade.IE, Message: oneLine(err.Error())}, nil
}

// failed is for trouble that is not the submission's. If the job was canceled, that is why.
func failed(ctx context.Context, err error) (sandbox.Result, *grade.Report, error) {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, sandbox.ErrCanceled):
		return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: exitNone, Message: "canceled while it was judged"}, nil, nil
	case cause != nil && !errors.Is(err, cause):
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return sandbox.Result{}, nil, fmt.Errorf("judge: %w", err)
}

// exitNone is the exit code of a result without a program's own.
const exitNone = -1

// load returns the bytes of data.
func (j *Judge) load(ctx context.Context, data grade.Data) ([]byte, error) {
	if data.Blob == "" {
		return data.Inline, nil
	}
	return j.options.Blobs.Get(ctx, data.Blob)
}
