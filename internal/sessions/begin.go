package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// holdMargin is how much longer a container may live than an interpreter that Watch ends.
const holdMargin = time.Minute

// begin starts an interpreter from the files of the session and makes it the session's, for the caller's use. The error is a
// *live.RejectedError for a job that asks for what no interpreter here can have.
func (s *Sessions) begin(ctx context.Context, c *call) (*entry, error) {
	if err := s.reserve(ctx); err != nil {
		return nil, err
	}
	e, err := s.start(ctx, c)
	if err != nil {
		s.leave()
		return nil, err
	}
	err = c.lease.Hold(ctx, workspace.Holder{Worker: s.options.Worker, Language: e.language, Nonce: e.nonce})
	if err == nil && !s.add(e) {
		err = jobs.ErrSessionBusy
	}
	if err != nil {
		err = errors.Join(err, s.letGo(ctx, e, "it was given up when it had just started"))
		e.interpreter.Close()
		s.leave()
		return nil, err
	}
	s.log.InfoContext(ctx, "live interpreter started", "session", c.Session.Name, "language", e.language, "nonce", e.nonce,
		"version", e.version, "took", time.Since(e.started).Round(time.Millisecond))
	return e, nil
}

// start starts an interpreter, which is nobody's yet.
func (s *Sessions) start(ctx context.Context, c *call) (*entry, error) {
	files, err := c.lease.Files(ctx)
	if err != nil {
		return nil, err
	}
	e := &entry{
		session: workspace.Session{Tenant: c.Tenant, Name: c.Session.Name}, nonce: newNonce(), language: c.language.Name,
		terms:   terms{limits: c.language.Floors.Raise(c.limits), env: c.Program.Env, network: c.Program.Network},
		started: time.Now(), version: c.lease.Head.Version, has: contentsOf(files),
	}
	e.interpreter, err = s.options.Start(ctx, live.Options{
		Program: s.interpreterProgram(c, e.nonce), Files: files, Hold: s.options.AbsoluteTimeout + holdMargin,
		Quota: s.options.Quota, MaxFiles: s.options.MaxFiles, FigureBytes: s.options.Defaults.FileBytes,
	})
	if err != nil {
		return nil, fmt.Errorf("start an interpreter for session %q: %w", c.Session.Name, err)
	}
	return e, nil
}

// interpreterProgram has what a job asks for and an interpreter keeps. Its container is not named after the job, which it
// outlives: who runs that again elsewhere ends the containers of the job.
func (s *Sessions) interpreterProgram(c *call, nonce string) sandbox.Program {
	asked, most := c.Program.Limits, s.options.Maxima
	return sandbox.Program{
		ID: "live-" + nonce, Attempt: 1, Tenant: c.Tenant, Language: c.language.Name, Env: c.Program.Env, Network: c.Program.Network,
		Limits: sandbox.Overrides{
			Memory: asked.Memory, CPUs: asked.CPUs, PIDs: asked.PIDs, Tmp: asked.Tmp, Workspace: asked.Workspace, OpenFiles: asked.OpenFiles,
			FilesIn: &most.FilesIn, InputBytes: &most.InputBytes,
		},
	}
}

func newNonce() string {
	nonce := make([]byte, 8)
	_, _ = rand.Read(nonce) // never returns an error
	return hex.EncodeToString(nonce)
}
