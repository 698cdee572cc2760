package main

import (
	"context"
	"log/slog"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/grade/judge"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// newJudge makes what judges submissions with the runner's containers and data from Redis.
func (p *parts) newJudge(c config.Config, runner *docker.Runner, slots int, log *slog.Logger) *judge.Judge {
	return judge.New(judge.Options{
		Runner: runner, Blobs: jobs.NewBlobs(p.queue, c.Redis.Prefix, int64(c.Worker.BlobCache), p.keys.Seal, log),
		Defaults: p.options.Defaults, Maxima: p.options.Maxima, IdleSessions: slots + c.Worker.InteractiveSlots,
		Class: p.options.RuntimeOf, Log: log,
	})
}

// closeJudge ends the sandboxes of validators, also when ctx has ended.
func closeJudge(ctx context.Context, judge *judge.Judge) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return judge.Close(ctx)
}
