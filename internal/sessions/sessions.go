package sessions

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// Runner runs programs in throwaway containers, as jobs.Runner does.
type Runner interface {
	Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error)
}

// Interpreter is a *live.Interpreter.
type Interpreter interface {
	Run(ctx context.Context, cell live.Cell) (live.Outcome, error)
	// Close returns when the container is gone; Done is closed when the interpreter has ended, and Reason then says why.
	Close()
	Done() <-chan struct{}
	Reason() string
}

// Options are what Sessions need. Everything but Log must be set, and Start where Live is not 0.
type Options struct {
	// Worker is the id under which the worker's heartbeat is known.
	Worker string
	// Store keeps the files. Quota and MaxFiles are its own.
	Store    *workspace.Store
	Quota    int64
	MaxFiles int
	Runner   Runner
	// Start starts a live interpreter as live.Start does.
	Start func(ctx context.Context, options live.Options) (Interpreter, error)
	// Alive tells which of the workers with the given ids have a heartbeat.
	Alive func(ctx context.Context, ids ...string) (map[string]bool, error)
	// Languages, Defaults and Maxima are those of Runner.
	Languages        *sandbox.Languages
	Defaults, Maxima sandbox.Limits
	// Live is how many live interpreters there may be at once; with 0 live jobs are rejected.
	Live int
	// IdleTimeout ends an interpreter that nobody called for so long, AbsoluteTimeout one that is so old.
	IdleTimeout, AbsoluteTimeout time.Duration
	// Log hears of interpreters that start and end; nothing by default.
	Log *slog.Logger
}

// Sessions run jobs of sessions. They are used from many goroutines.
type Sessions struct {
	options  Options
	log      *slog.Logger
	patience time.Duration

	mu     sync.Mutex
	shelf  map[string]*entry // by nonce
	places int               // taken on the shelf, by interpreters that are starting too
	closed bool
	// waiting are the sessions that a job of this worker waits for.
	waiting map[workspace.Session]bool
}

// New makes Sessions, which hold no interpreter yet.
func New(options Options) *Sessions {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Sessions{options: options, log: options.Log, patience: patience, shelf: map[string]*entry{}, waiting: map[workspace.Session]bool{}}
}

// rejected is the result of a job that asks for what is not done here.
func rejected(err error) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: -1, Message: err.Error()}
}

// canceled is the result of a job that somebody canceled while no program ran.
func canceled() sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1, Message: "canceled: nothing of it is kept"}
}

// wasCanceled tells whether a context ended because somebody canceled the job.
func wasCanceled(ctx context.Context) bool { return errors.Is(context.Cause(ctx), sandbox.ErrCanceled) }
