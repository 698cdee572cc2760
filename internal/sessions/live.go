package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// runLive runs a job in the session's interpreter, and starts one if there is none. While the session has an
// interpreter of another language the job runs in a container of its own, since starting another one would
// lose all variables of the first: session.restart asks for that.
func (s *Sessions) runLive(ctx context.Context, c *call) (sandbox.Result, *workspace.Report, error) {
	e, lost, err := s.find(ctx, c)
	switch {
	case errors.Is(err, errOtherLanguage):
		return s.runPlain(ctx, c)
	case err != nil:
		return sandbox.Result{}, nil, err
	case e != nil:
		if err := e.terms.allow(c); err != nil {
			s.put(ctx, e)
			return rejected(err), &workspace.Report{Version: c.lease.Head.Version}, nil
		}
		result, report, err := s.runCell(ctx, c, e, workspace.LiveReport{})
		if !errors.Is(err, live.ErrEnded) {
			return result, report, err
		}
		lost = e.interpreter.Reason() // it ended when nobody looked, and nothing of the call has run
	}
	if s.options.Live == 0 { // only now: another worker may have one
		return rejected(errNoneLive), &workspace.Report{Version: c.lease.Head.Version}, nil
	}
	e, err = s.begin(ctx, c)
	var refusal *live.RejectedError
	switch {
	case errors.As(err, &refusal):
		return refusal.Result, &workspace.Report{Version: c.lease.Head.Version}, nil
	case err != nil:
		return sandbox.Result{}, nil, err
	}
	return s.runCell(ctx, c, e, workspace.LiveReport{Started: true, Lost: lost})
}

var (
	errOtherLanguage = errors.New("the session has an interpreter of another language")
	errNoneLive      = errors.New("session.live: this worker holds no live interpreters (sessions.live): want a job without it")
)

// find returns the session's interpreter, busy, or nil and why variables of earlier calls are lost, if there were any. The
// error is *jobs.ElsewhereError for one that lives in another worker, and errOtherLanguage.
func (s *Sessions) find(ctx context.Context, c *call) (e *entry, lost string, err error) {
	holder := c.lease.Head.Live
	if holder == nil {
		return nil, c.lease.Head.LiveEnded, nil
	}
	if holder.Worker != s.options.Worker {
		alive, err := s.options.Alive(ctx, holder.Worker)
		switch {
		case err != nil:
			return nil, "", err
		case !alive[holder.Worker]:
			s.log.WarnContext(ctx, "live interpreter lost with its worker", "session", c.Session.Name, "holder", holder.Worker, "nonce", holder.Nonce)
			return nil, "the worker that held the interpreter was lost", nil
		case holder.Language != c.language.Name && !c.Session.Restart:
			return nil, "", errOtherLanguage
		}
		return nil, "", &jobs.ElsewhereError{Worker: holder.Worker}
	}
	if e, lost, err = s.take(holder.Nonce); e == nil {
		return nil, lost, err
	}
	if reason := s.unfit(c, e); reason != "" {
		s.end(ctx, e, reason)
		return nil, reason, nil
	}
	if e.language != c.language.Name {
		s.put(ctx, e)
		return nil, "", errOtherLanguage
	}
	return e, "", nil
}

// unfit tells why an interpreter cannot take the call, or nothing.
func (s *Sessions) unfit(c *call, e *entry) string {
	switch {
	case e.ended():
		return e.interpreter.Reason()
	case c.Session.Restart:
		return "a restart was asked for"
	case time.Since(e.started)+min(c.limits.WallTime, s.options.AbsoluteTimeout/2) > s.options.AbsoluteTimeout:
		return fmt.Sprintf("no interpreter lives longer than %s", s.options.AbsoluteTimeout)
	}
	return ""
}

// runCell runs a job in an interpreter and keeps what it did to the files. An interpreter whose call failed by our own
// doing ends: the job runs again, and must not find variables that its first half has changed.
func (s *Sessions) runCell(ctx context.Context, c *call, e *entry, fate workspace.LiveReport) (sandbox.Result, *workspace.Report, error) {
	ended := "a call failed in it, which was not the code's fault"
	defer func() { // also when a panic passes
		if ended != "" {
			s.end(ctx, e, ended)
		} else {
			s.put(ctx, e)
		}
	}()
	cell, before, after, err := s.cell(ctx, c, e)
	if err != nil {
		return sandbox.Result{}, nil, err
	}
	startup := time.Since(c.begun)
	outcome, err := e.interpreter.Run(ctx, cell)
	if errors.Is(err, live.ErrEnded) {
		ended = e.interpreter.Reason()
	}
	if err != nil {
		return sandbox.Result{}, nil, fmt.Errorf("job %s in session %q: %w", c.ID, c.Session.Name, err)
	}
	outcome.Report.Started, outcome.Report.Lost = fate.Started, fate.Lost
	outcome.Result.StartupTime = sandbox.Seconds(startup)
	result, report, err := s.keep(ctx, c, e, outcome, before, after)
	if err == nil {
		ended = outcome.Report.Ended
	}
	return result, report, err
}

// cell makes the cell of a job. Before and after are the files of the session without and with the job's own; they are
// nil when nothing in the workspace has to change.
func (s *Sessions) cell(ctx context.Context, c *call, e *entry) (cell live.Cell, before, after []sandbox.File, err error) {
	e.cells++
	cell = live.Cell{
		Source: string(c.source()), Name: c.Program.Main, Stdin: c.Program.Stdin,
		WallTime: min(c.limits.WallTime, s.options.AbsoluteTimeout-time.Since(e.started)), Output: c.limits.Output, OnOutput: c.Program.OnOutput,
	}
	if cell.Name == "" {
		cell.Name = fmt.Sprintf("cell %d", e.cells)
	}
	if e.version == c.lease.Head.Version && len(c.Program.Files) == 0 {
		return cell, nil, nil, nil
	}
	if before, err = c.lease.Files(ctx); err != nil {
		return live.Cell{}, nil, nil, err
	}
	after = workspace.Apply(before, c.Program.Files, nil)
	if err = workspace.Check(after); err != nil {
		return live.Cell{}, nil, nil, err
	}
	cell.Write, cell.Delete = e.has.difference(after)
	e.version, e.has = unsettled, contentsOf(after)
	if len(c.Program.Files) == 0 {
		e.version = c.lease.Head.Version
	}
	return cell, before, after, nil
}

// keep commits what a cell did to the files, and picks those that the job asked for.
func (s *Sessions) keep(
	ctx context.Context, c *call, e *entry, outcome live.Outcome, before, after []sandbox.File,
) (sandbox.Result, *workspace.Report, error) {
	result, changes := outcome.Result, outcome.Changes
	report := &workspace.Report{Version: c.lease.Head.Version, Refused: changes.Refused, Live: &outcome.Report}
	excess := slices.ContainsFunc(changes.Refused, overLimit)
	changed := excess || len(changes.Written) > 0 || len(changes.Deleted) > 0
	if changed || result.Outcome == sandbox.OutcomeCanceled {
		e.version = unsettled
	}
	e.has.change(changes.Written, changes.Deleted)
	odd := e.has.forget(changes.Refused)
	if odd {
		e.version = unsettled
	}
	if excess { // of which nobody told all
		e.has, report.Refused = nil, append(report.Refused, nothingKept)
	}
	switch {
	case result.Outcome == sandbox.OutcomeCanceled:
		return result, report, nil
	case excess:
		return result, report, s.commit(ctx, c, nil, nil, result, report)
	case !result.Collected:
		report.Refused = append(report.Refused, lostFiles)
		return result, report, nil
	}
	if after == nil && (changed || len(c.Program.Outputs) > 0) {
		var err error
		if before, err = c.lease.Files(ctx); err != nil {
			return sandbox.Result{}, nil, err
		}
		after = before
	}
	after = workspace.Apply(after, changes.Written, changes.Deleted)
	c.bringBack(&result, after, changes.Refused)
	if err := s.commit(ctx, c, before, after, result, report); err != nil {
		return sandbox.Result{}, nil, err
	}
	if odd || slices.ContainsFunc(report.Refused, overLimit) {
		e.version = unsettled
	} else {
		e.version = c.lease.Head.Version
	}
	return result, report, nil
}

// bringBack adds to the figures of a cell the files that the job asked for.
func (c *call) bringBack(result *sandbox.Result, files []sandbox.File, refused []sandbox.RefusedFile) {
	back, without := c.wanted(files, refused)
	figures := result.Files
	for _, file := range back {
		if !slices.ContainsFunc(figures, func(figure sandbox.File) bool { return figure.Path == file.Path }) {
			result.Files = append(result.Files, file)
		}
	}
	result.RefusedFiles = append(result.RefusedFiles, without...)
}
