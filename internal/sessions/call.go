package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

const (
	// patience is how long a job waits for another of its session before it is put off.
	patience = 5 * time.Second
	// briefly is how long the jobs behind that one wait.
	briefly = 300 * time.Millisecond
	// commitTime bounds a commit, which goes on when the job is canceled meanwhile.
	commitTime = time.Minute
)

// call is one job on its way.
type call struct {
	jobs.SessionJob
	language sandbox.Language
	// limits are the job's own, which hold for what it sends and gets back itself.
	limits sandbox.Limits
	lease  *workspace.Lease
	begun  time.Time
}

// main is the path of the main file.
func (c *call) main() string { return cmp.Or(c.Program.Main, c.language.File) }

// source is the code of a live call: the job's source or the main file among its files.
func (c *call) source() []byte {
	if len(c.Program.Source) > 0 {
		return c.Program.Source
	}
	for _, file := range c.Program.Files {
		if file.Path == c.main() {
			return file.Data
		}
	}
	return nil
}

// Run runs one job of a session, as jobs.Sessions says. The report is nil for a job that did not come so far as to have
// the session.
func (s *Sessions) Run(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
	c := &call{SessionJob: job, begun: time.Now()}
	if err := s.check(c); err != nil {
		return rejected(err), nil, nil
	}
	session := workspace.Session{Tenant: job.Tenant, Name: job.Session.Name}
	most, done := s.queue(session)
	lease, err := s.options.Store.AcquireWait(ctx, session, s.options.Worker, job.ID, most)
	done()
	switch {
	case errors.Is(err, workspace.ErrBusy):
		return sandbox.Result{}, nil, jobs.ErrSessionBusy
	case err != nil && wasCanceled(ctx):
		return canceled(), nil, nil
	case err != nil:
		return sandbox.Result{}, nil, err
	case lease.Committed != nil:
		s.log.InfoContext(ctx, "job had committed before", "session", job.Session.Name, "job", job.ID)
		return decode(*lease.Committed)
	}
	c.lease = lease
	defer func() {
		if err := lease.Release(ctx); err != nil {
			s.log.WarnContext(ctx, "session not released, its lease will expire", "session", job.Session.Name, "error", err)
		}
	}()
	kept, stop := lease.Keep(ctx)
	defer stop()
	result, report, err := s.run(kept, c)
	switch {
	case errors.Is(err, workspace.ErrDamaged), errors.Is(err, workspace.ErrInvalid):
		return rejected(err), nil, nil // no other attempt would fare better
	case errors.Is(err, workspace.ErrFenced) && s.deleted(ctx, session):
		gone := canceled() // another attempt would bring the session back
		gone.Message = "the session was deleted while the job ran: nothing of it is kept"
		return gone, nil, nil
	case err != nil && wasCanceled(ctx):
		return canceled(), nil, nil
	case err != nil:
		return sandbox.Result{}, nil, err
	}
	return result, report, nil
}

// run runs a job that has the session.
func (s *Sessions) run(ctx context.Context, c *call) (sandbox.Result, *workspace.Report, error) {
	if c.Session.Live && talks(c.language) {
		return s.runLive(ctx, c)
	}
	return s.runPlain(ctx, c)
}

// check looks up the language and checks what the job itself sends and asks for. What the files of the session add is
// no matter of the job's limits.
func (s *Sessions) check(c *call) (err error) {
	if err := workspace.CheckName(c.Session.Name); err != nil {
		return err
	}
	if c.language, err = s.options.Languages.Lookup(c.Program.Language); err != nil {
		return err
	}
	if c.limits, err = c.Program.Limits.Resolve(s.options.Defaults, s.options.Maxima); err != nil {
		return err
	}
	if err := c.Program.Validate(c.limits); err != nil {
		return err
	}
	if c.Session.Live && talks(c.language) {
		return s.checkLive(c)
	}
	return nil
}

// commit makes files those of the session and fills the report with the difference to what was there before. Files
// above the quota are refused in the report, and then nothing has changed.
func (s *Sessions) commit(ctx context.Context, c *call, before, after []sandbox.File, result sandbox.Result, report *workspace.Report) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("commit job %s: %w", c.ID, err)
	}
	written, deleted := workspace.Diff(before, after)
	unchanged := len(written) == 0 && len(deleted) == 0
	if unchanged && report.Live == nil { // else variables may have changed, which must not happen twice
		return nil
	}
	changed := *report
	changed.Written, changed.Deleted = atMost(workspace.ReportedPaths, paths(written)), atMost(workspace.ReportedPaths, deleted)
	// Once it is on its way, nobody could tell whether a commit that is given up was made.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	kept := encode(result, changed)
	if kept == nil && !unchanged { // another attempt would find the changes and make them once more
		report.Refused = append(report.Refused, untold)
		return nil
	}
	err := c.lease.Commit(ctx, workspace.Commit{Files: after, Unchanged: unchanged, Result: kept})
	var quota *workspace.QuotaError
	switch {
	case errors.As(err, &quota):
		report.Refused = append(report.Refused, sandbox.RefusedFile{
			Path: ".", Reason: quota.Error() + ": no change of this job is kept", Limit: true,
		})
		if report.Live == nil {
			return nil
		}
		return c.lease.Commit(ctx, workspace.Commit{Unchanged: true, Result: encode(result, *report)})
	case err != nil:
		return err
	}
	changed.Version = c.lease.Head.Version
	*report = changed
	return nil
}

// queue tells how long a job may wait for its session. It has a slot meanwhile, so one job of a session waits long
// in each worker: many must not keep all slots from the jobs of others.
func (s *Sessions) queue(session workspace.Session) (most time.Duration, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[session] {
		return min(briefly, s.patience), func() {}
	}
	s.waiting[session] = true
	return s.patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, session)
	}
}

// deleted tells whether somebody deleted the session that a job lost.
func (s *Sessions) deleted(ctx context.Context, session workspace.Session) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoTime)
	defer cancel()
	_, err := s.options.Store.Info(ctx, session)
	return errors.Is(err, workspace.ErrNotFound)
}

func paths(files []sandbox.File) (names []string) {
	for _, file := range files {
		names = append(names, file.Path)
	}
	return names
}

func atMost(n int, names []string) []string { return names[:min(n, len(names))] }
