package toolbox

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// Options say on what a Toolbox works. Jobs and Languages must be set.
type Options struct {
	// Jobs is the queue, a *jobs.Client, which stays the caller's.
	Jobs Jobs
	// Workspace has the files of Session, a *workspace.Store. It must be set beside Session.
	Workspace Workspace
	// Languages are those that the workers have.
	Languages *sandbox.Languages
	// Session is the name of the session whose files all calls share; empty is none, and then there are no tools for files.
	Session string
	// Live runs Python and Node in the live interpreter of the session.
	Live bool
	// Tenant is on whose behalf the jobs run.
	Tenant string
	// Queue is where calls wait, jobs.Interactive when empty. Jobs of submit_job wait in jobs.Default.
	Queue jobs.Queue
	// Limits are what each job asks for beside its time; unset ones are the operator's.
	Limits sandbox.Overrides
	// Timeout is the wall time of a call that asks for none, and MaxTimeout the most that it may ask for: those of
	// sandbox.DefaultLimits and DefaultMaxima when 0. Jobs of submit_job that ask for none have MaxTimeout.
	Timeout, MaxTimeout time.Duration
	// WorkerWait is how long a job waits while there is no worker at all, 30 s when 0, and QueueWait how long it waits for a
	// worker that has time, 5 min when 0. Then it is canceled.
	WorkerWait, QueueWait time.Duration
	// Tracer makes the spans of calls, the parents of their jobs' spans; nil makes none.
	Tracer trace.TracerProvider
	// Budget is how many bytes of output a result shows, explain.DefaultBudget when 0.
	Budget int
}

// Jobs is what a Toolbox needs of a *jobs.Client.
type Jobs interface {
	Submit(ctx context.Context, job jobs.Job) (jobs.Submission, error)
	Status(ctx context.Context, id string) (jobs.Status, error)
	Await(ctx context.Context, id string) (jobs.Record, error)
	Follow(ctx context.Context, id string, emit func(sandbox.Output)) error
	Cancel(ctx context.Context, id string) (jobs.Status, error)
	Stats(ctx context.Context) (jobs.Stats, error)
}

// Workspace is what a Toolbox needs of a *workspace.Store.
type Workspace interface {
	Files(ctx context.Context, session workspace.Session) ([]sandbox.File, error)
	Write(ctx context.Context, session workspace.Session, write []sandbox.File, deleted []string, most time.Duration) (workspace.Head, error)
}

func (o Options) withDefaults() Options {
	o.Queue = cmp.Or(o.Queue, jobs.Interactive)
	o.MaxTimeout = cmp.Or(o.MaxTimeout, sandbox.DefaultMaxima().WallTime)
	o.Timeout = min(cmp.Or(o.Timeout, sandbox.DefaultLimits().WallTime), o.MaxTimeout)
	o.WorkerWait = cmp.Or(o.WorkerWait, 30*time.Second)
	o.QueueWait = cmp.Or(o.QueueWait, 5*time.Minute)
	return o
}

// session is the session in the workspace's terms.
func (o Options) session() workspace.Session {
	return workspace.Session{Tenant: o.Tenant, Name: o.Session}
}
