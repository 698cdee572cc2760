package main

import (
	"context"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/tracing"
)

// startTraces begins to send spans if the configuration asks for it.
func (a *app) startTraces(ctx context.Context, c config.Tracing) (*tracing.Traces, error) {
	service := tracing.Service{Name: "sandloop-agent", Version: cli.Version()}
	return tracing.Start(ctx, c, service, func(err error) { a.say("traces: %v", err) })
}
