package main

import (
	"context"
	"errors"
	"io"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing"
	"github.com/sandloop/sandloop/internal/workspace"
)

const programName = "agent"

// app is what the commands share.
type app struct {
	// getenv is the environment: keys, tokens and NO_COLOR. The configuration reads its own variables.
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	// parsed is set once the command line is known to be right.
	parsed bool
}

// say writes one line of ours.
func (a *app) say(format string, args ...any) { cli.Say(a.stderr, programName, format, args...) }

// settings are the configuration and what follows from it without a connection.
type settings struct {
	config    config.Config
	languages *sandbox.Languages
	keys      cli.Keys
	traces    *tracing.Traces
}

// settings reads the configuration. Its errors are the user's to mend.
func (a *app) settings(cmd *cobra.Command) (*settings, error) {
	loaded, err := config.Load(cmd.Flags())
	if err != nil {
		return nil, cli.UsageError(err)
	}
	languages, err := loaded.Languages()
	if err != nil {
		return nil, cli.UsageError(err)
	}
	keys, err := cli.ProducerKeys(loaded.Jobs)
	if err != nil {
		return nil, err
	}
	traces, err := a.startTraces(cmd.Context(), loaded.Tracing)
	if err != nil {
		return nil, cli.UsageError(err)
	}
	return &settings{config: loaded, languages: languages, keys: keys, traces: traces}, nil
}

// poolSize is the most connections to Redis: two for each call that may run at the same time and some for the rest.
const poolSize = 24

// connection is a queue that has workers.
type connection struct {
	redis redis.UniversalClient
	jobs  *jobs.Client
	store *workspace.Store
}

// connect makes sure that Redis answers and that there is a worker, since a model without hands only costs tokens.
func (s *settings) connect(ctx context.Context) (*connection, error) {
	rdb, err := cli.Connect(ctx, s.config, poolSize)
	if err != nil {
		return nil, err
	}
	c := s.over(rdb)
	stats, err := c.jobs.Stats(ctx)
	if err == nil && len(stats.Workers) == 0 {
		err = errors.New("no worker is running: start bin/worker in another terminal, with the same configuration")
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// over uses a Redis whether or not it answers.
func (s *settings) over(rdb redis.UniversalClient) *connection {
	sessions := s.config.Sessions
	return &connection{
		redis: rdb,
		jobs: jobs.NewClient(rdb, jobs.ClientOptions{
			Prefix: s.config.Redis.Prefix, Retention: s.config.Jobs.Retention, BodyLimit: int(s.config.Jobs.BodyLimit),
			SignKeys: s.keys.Sign, SealKeys: s.keys.Seal, Tracer: s.traces.Provider(),
		}),
		store: workspace.New(rdb, workspace.Options{
			Prefix: s.config.Redis.Prefix, Quota: int64(sessions.Quota), MaxFiles: sessions.MaxFiles, Expiry: sessions.Expiry,
			Keys: s.keys.Seal,
		}),
	}
}

func (c *connection) close() {
	_ = c.jobs.Close()
	_ = c.redis.Close()
}
