package main

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// sessionFlags say where the tools work.
type sessionFlags struct {
	name, queue, tenant string
	live                bool
}

func (f *sessionFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "session", "", "`NAME` of the session whose files and variables the tools use and leave (default: a fresh one)")
	flags.BoolVar(&f.live, "live", true, "variables of Python and Node persist between calls")
	flags.StringVar(&f.queue, "queue", string(jobs.Interactive), "`QUEUE` of the jobs: interactive, default or batch")
	flags.StringVar(&f.tenant, "tenant", "", "`NAME` on whose behalf jobs run")
}

// check refuses what no job could have.
func (f *sessionFlags) check() error {
	if f.name != "" {
		if err := workspace.CheckName(f.name); err != nil {
			return cli.Usagef("--session: %w", err)
		}
	}
	if _, err := jobs.ParseQueue(f.queue); err != nil {
		return cli.Usagef("--%w", err)
	}
	return nil
}

// session is a workspace that tools work in.
type session struct {
	workspace.Session
	store *workspace.Store
	// fresh tells that it was made for this run and ends with it, unless somebody wants it kept.
	fresh bool
}

// open returns the session that is asked for, or a fresh one. Nothing is stored before the first job.
func (f *sessionFlags) open(c *connection) *session {
	s := &session{Session: workspace.Session{Tenant: f.tenant, Name: f.name}, store: c.store, fresh: f.name == ""}
	if s.fresh {
		s.Name = "agent-" + strings.ToLower(rand.Text()[:12])
	}
	return s
}

// cleanUpTime bounds what is done after a run, which may have been ended by Ctrl-C.
const cleanUpTime = 15 * time.Second

// exists tells whether the session has been used.
func (s *session) exists(ctx context.Context) (bool, error) {
	_, err := s.store.Info(ctx, s.Session)
	if errors.Is(err, workspace.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// delete removes the session with its files and its live interpreter. One that was never used is no error.
func (s *session) delete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	if err := s.store.Delete(ctx, s.Session); !errors.Is(err, workspace.ErrNotFound) {
		return err
	}
	return nil
}

// resume makes the session that of a transcript, unless the command line names one.
func (f *sessionFlags) resume(t *agent.Transcript) {
	if f.name == "" && t != nil {
		f.name = t.Session
	}
}

// files returns what is in the session, nothing if it was never used.
func (s *session) files(ctx context.Context) ([]sandbox.File, error) {
	files, err := s.store.Files(ctx, s.Session)
	if errors.Is(err, workspace.ErrNotFound) {
		return nil, nil
	}
	return files, err
}
