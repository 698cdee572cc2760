package jobs

import (
	"context"
	"errors"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// Session names the session that a job belongs to. Its files are in /workspace when the job starts, and what
// the job makes of them is kept for the next.
type Session struct {
	// Name is the session's among those of its tenant: up to 64 letters, digits, '-', '_' and '.'.
	Name string `json:"name"`
	// Live has the source run in the session's live interpreter, whose variables persist from call to call.
	Live bool `json:"live,omitempty"`
	// Restart has the live interpreter begin anew before the call.
	Restart bool `json:"restart,omitempty"`
}

// SessionJob is a job of a session as a worker hands it to its Sessions.
type SessionJob struct {
	// ID and Attempt are the job's.
	ID      string
	Attempt int
	Tenant  string
	Session Session
	// Program has its ID, Attempt and OnOutput set.
	Program sandbox.Program
}

// Sessions runs jobs of sessions. It is called from many goroutines.
type Sessions interface {
	// Run runs one job of a session and keeps the files that it left. All that goes wrong with the program is a
	// result. An error means that our own machinery failed and that the job may run again; [ErrSessionBusy] and
	// [ElsewhereError] put the job off or hand it to another worker, without counting as a failure. When ctx ends, Run
	// does as Runner.Run does.
	Run(ctx context.Context, job SessionJob) (sandbox.Result, *workspace.Report, error)
}

// ErrSessionBusy means that another job of the session still runs; the job is tried again soon.
var ErrSessionBusy = errors.New("another job of the session runs")

// ElsewhereError means that another worker, which has a heartbeat, holds the live interpreter of the session.
type ElsewhereError struct{ Worker string }

func (e *ElsewhereError) Error() string { return "the session lives in worker " + e.Worker }
