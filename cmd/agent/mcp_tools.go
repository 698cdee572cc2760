package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/mcp"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
)

// mcpPoolSize is the most connections to Redis of a server, two for each of its calls at a time.
const mcpPoolSize = 100

// reach connects a server, which may start before Redis and workers do: until then its calls say what is wrong, and
// so does a line on standard error. The function it returns closes the connection.
func (s *settings) reach(ctx context.Context, a *app) (*connection, func(), error) {
	cli.SilenceRedis()
	options := cli.RedisOptions(s.config.Redis)
	options.PoolSize = mcpPoolSize
	rdb, err := jobs.ConnectRedis(options)
	if err != nil {
		return nil, nil, cli.UsageError(err)
	}
	ctx, stop := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		if c, err := s.connect(ctx); err == nil {
			c.close()
		} else if ctx.Err() == nil {
			a.say("%v", err)
		}
	})
	c := s.over(rdb)
	return c, func() {
		stop()
		looking.Wait()
		c.close()
	}, nil
}

// options say what the server serves. Its tools are listed before there is a session.
func (f *mcpFlags) options(s *settings, c *connection, version string, logger *slog.Logger) mcp.Options {
	kept := "are deleted when the connection ends."
	if f.session.name != "" {
		kept = "stay for later."
	}
	listed := f.session.tools(s, c, f.session.open(c))
	defer listed.Close()
	return mcp.Options{
		Version: version, Specs: listed.Specs(), Logger: logger,
		Instructions: "The tools run code in sandboxes without a network. All calls share the files in /workspace, which " + kept,
		Open: func(ctx context.Context) (agent.Tools, func(), error) {
			tools, closeTools := f.open(context.WithoutCancel(ctx), s, c)
			return tools, closeTools, nil
		},
	}
}

// open makes the tools of a connection. A fresh session ends with it, and the jobs in it, for which ctx must hold.
func (f *mcpFlags) open(ctx context.Context, s *settings, c *connection) (tools agent.Tools, closeTools func()) {
	session := f.session.open(c)
	box := f.session.tools(s, c, session)
	return box, func() {
		if session.fresh {
			box.Abandon(ctx)
		}
		box.Close()
		if session.fresh {
			_ = session.delete(ctx) // or it expires
		}
	}
}
