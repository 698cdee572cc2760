package main

import (
	"context"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
)

// poolSize is the most connections that one command line needs.
const poolSize = 4

// connect makes a client on the configured Redis and makes sure that it answers. The function
// it returns closes both.
func (s *settings) connect(ctx context.Context) (*jobs.Client, func(), error) {
	keys, err := cli.ProducerKeys(s.config.Jobs)
	if err != nil {
		return nil, nil, err
	}
	rdb, err := cli.Connect(ctx, s.config, poolSize)
	if err != nil {
		return nil, nil, err
	}
	if err := s.startTraces(ctx); err != nil {
		_ = rdb.Close()
		return nil, nil, usageError(err)
	}
	client := jobs.NewClient(rdb, jobs.ClientOptions{
		Prefix: s.config.Redis.Prefix, Retention: s.config.Jobs.Retention, BodyLimit: int(s.config.Jobs.BodyLimit),
		SignKeys: keys.Sign, SealKeys: keys.Seal, Tracer: s.traces.Provider(),
	})
	return client, func() {
		_ = client.Close()
		_ = rdb.Close()
		s.traces.Close(ctx)
	}, nil
}
