package main

import (
	"context"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/tracing"
)

// startTraces begins to send spans if the configuration asks for it.
func (s *settings) startTraces(ctx context.Context) (err error) {
	service := tracing.Service{Name: "sandloop-enqueue", Version: cli.Version()}
	s.traces, err = tracing.Start(ctx, s.config.Tracing, service, func(err error) { say(s.stderr, "traces: %v", err) })
	return err
}
