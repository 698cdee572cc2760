package main

import (
	"context"
	"log/slog"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/tracing"
)

// startTraces begins to send spans if the configuration asks for it.
func startTraces(ctx context.Context, c config.Tracing, worker string, log *slog.Logger) (*tracing.Traces, error) {
	service := tracing.Service{Name: "sandloop-worker", Version: cli.Version(), Instance: worker}
	return tracing.Start(ctx, c, service, func(err error) { log.Warn("traces did not arrive", "error", err) })
}
