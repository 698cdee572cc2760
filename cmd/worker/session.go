package main

import (
	"context"
	"log/slog"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sessions"
	"github.com/sandloop/sandloop/internal/workspace"
)

// newSessions makes what runs the jobs of sessions with the runner's containers and files from Redis.
func (p *parts) newSessions(c config.Config, id string, runner *docker.Runner, log *slog.Logger) *sessions.Sessions {
	quota, maxFiles := sessionQuota(c.Sessions, p.options.Maxima)
	if quota < int64(c.Sessions.Quota) || maxFiles < c.Sessions.MaxFiles {
		log.Warn("sessions keep less than their quota, since limits.maxima bound what goes into and comes out of a sandbox",
			"quota", config.Size(quota), "files", maxFiles)
	}
	return sessions.New(sessions.Options{
		Worker: id, Quota: quota, MaxFiles: maxFiles, Runner: runner, Start: starter(runner),
		Store: workspace.New(p.queue, workspace.Options{
			Prefix: c.Redis.Prefix, Quota: quota, MaxFiles: maxFiles, Expiry: c.Sessions.Expiry, Keys: p.keys.Seal, Log: log,
		}),
		Alive:     jobs.NewClient(p.queue, jobs.ClientOptions{Prefix: c.Redis.Prefix, Log: log}).WorkerAlive,
		Languages: p.options.Languages, Defaults: p.options.Defaults, Maxima: p.options.Maxima,
		Live: c.Sessions.Live, IdleTimeout: c.Sessions.IdleTimeout, AbsoluteTimeout: c.Sessions.AbsoluteTimeout, Log: log,
	})
}

// starter starts interpreters in the runner's containers.
func starter(runner *docker.Runner) func(ctx context.Context, options live.Options) (sessions.Interpreter, error) {
	return func(ctx context.Context, options live.Options) (sessions.Interpreter, error) {
		interpreter, err := live.Start(ctx, runner, options)
		if err != nil {
			return nil, err // and no interface around a nil pointer
		}
		return interpreter, nil
	}
}

// maxSourceRoom is how many bytes a session leaves for the source of a job at most.
const maxSourceRoom = 4 * sandbox.MiB

// sessionQuota is how many bytes and files a session can keep: they have to go into a sandbox and to come out again, and a
// job's source with them.
func sessionQuota(c config.Sessions, maxima sandbox.Limits) (bytes int64, files int) {
	bytes = min(maxima.InputBytes, maxima.FileBytes)
	bytes -= min(bytes/16, maxSourceRoom)
	files = max(1, min(maxima.FilesIn, maxima.FilesOut)-1)
	return min(int64(c.Quota), bytes), min(c.MaxFiles, files)
}

// watchSessions has interpreters end in time, and with ctx as soon as no job has them. The returned function ends all.
func watchSessions(ctx context.Context, s *sessions.Sessions) (end func()) {
	ended := make(chan struct{})
	watched, stop := context.WithCancel(ctx)
	go func() { defer close(ended); s.Watch(watched) }()
	return func() {
		stop()
		<-ended
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		s.Close(ctx)
	}
}
