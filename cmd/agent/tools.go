package main

import (
	"github.com/sandloop/sandloop/internal/agent/toolbox"
	"github.com/sandloop/sandloop/internal/jobs"
)

// tools are those that work in a session. They are to be closed before the connection is.
func (f *sessionFlags) tools(s *settings, c *connection, open *session) *toolbox.Toolbox {
	limits := s.config.Limits
	return toolbox.New(toolbox.Options{
		Jobs: c.jobs, Workspace: c.store, Languages: s.languages,
		Session: open.Name, Tenant: f.tenant, Live: f.live, Queue: jobs.Queue(f.queue),
		Timeout: limits.Defaults.Sandbox().WallTime, MaxTimeout: limits.Maxima.Sandbox().WallTime,
		Tracer: s.traces.Provider(),
	})
}
