package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
	// [ElsewhereError] put the job off or hand it to another worker, without counting as a failure or as an attempt: nothing
	// of the job has run then and nothing of it is left. When ctx ends, Run does as Runner.Run does.
	Run(ctx context.Context, job SessionJob) (sandbox.Result, *workspace.Report, error)
}

// ErrSessionBusy means that another job of the session still runs; the job is tried again soon.
var ErrSessionBusy = errors.New("another job of the session runs")

// ElsewhereError means that another worker, which has a heartbeat, holds the live interpreter of the session.
type ElsewhereError struct{ Worker string }

func (e *ElsewhereError) Error() string { return "the session lives in worker " + e.Worker }

const maxSessionName = 64

// checkSession refuses a session that cannot be named or that the rest of the job contradicts.
func (j Job) checkSession() error {
	var errs []error
	if !validName(j.Session.Name, maxSessionName) {
		errs = append(errs, fmt.Errorf("session.name: %.80q: want 1 to %d letters, digits, '-', '_' and '.'", j.Session.Name, maxSessionName))
	}
	if j.Session.Restart && !j.Session.Live {
		errs = append(errs, errors.New("session.restart: is true: want it only beside live, whose interpreter it starts anew"))
	}
	if j.Grade != nil {
		errs = append(errs, errors.New("session: is given: want none beside grade, whose submissions must not find what others left"))
	}
	if j.Program.Reuse != "" {
		errs = append(errs, errors.New("program.reuse: is given: want none beside session, which has a container of its own"))
	}
	return errors.Join(errs...)
}

// runInSession runs the program of an attempt in its session. What this worker cannot run is a result at
// once, since the next attempt would end the same way.
func (w *Worker) runInSession(ctx context.Context, a *attempt, program sandbox.Program) (e ending, err error) {
	if w.options.Sessions == nil {
		return ending{Result: ourResult(sandbox.OutcomeRejected, "session: this worker runs no sessions: want a worker that has them")}, nil
	}
	job := SessionJob{ID: a.ref.ID, Attempt: a.number, Tenant: a.job.Tenant, Session: *a.job.Session, Program: program}
	err = w.safely(ctx, "session", a.ref.ID, func() (err error) {
		e.Result, e.Session, err = w.options.Sessions.Run(ctx, job)
		return err
	})
	return e, err
}

// maxSessionReport is the size in bytes of JSON up to which the report on a session is kept whole.
const maxSessionReport = 8 << 20

// bounded is the report without what makes it too large: what the cell showed and the files that were refused.
func bounded(report *workspace.Report) *workspace.Report {
	if plain, err := json.Marshal(report); err != nil || len(plain) <= maxSessionReport {
		return report
	}
	small := workspace.Report{Version: report.Version}
	if report.Live == nil {
		return &small
	}
	small.Live = &workspace.LiveReport{
		Started: report.Live.Started, Lost: capped(report.Live.Lost), Ended: capped(report.Live.Ended), Value: capped(report.Live.Value),
		Displays: []workspace.Display{{MIME: "text/plain", Text: fmt.Sprintf(
			"the displays and the lists of files are not kept, since all of them are more than %d bytes", maxSessionReport)}},
	}
	return &small
}

// maxSentence is how many bytes are kept of each text of a report that is too large.
const maxSentence = 64 << 10

func capped(text string) string {
	if len(text) <= maxSentence {
		return text
	}
	return strings.ToValidUTF8(text[:maxSentence], "") + "..."
}
