package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
)

// connectTime bounds the first answer of Redis.
const connectTime = 5 * time.Second

// poolSize is the most connections that one command line needs.
const poolSize = 4

// connect makes a client on the configured Redis and makes sure that it answers. The function
// it returns closes both.
func (s *settings) connect(ctx context.Context) (*jobs.Client, func(), error) {
	cli.SilenceRedis()
	options := cli.RedisOptions(s.config.Redis)
	options.PoolSize = poolSize
	rdb, err := jobs.ConnectRedis(options)
	if err != nil {
		return nil, nil, usageError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	if err := rdb.Ping(ctx).Err(); err != nil {
		_ = rdb.Close()
		return nil, nil, s.connectError(err)
	}
	client := jobs.NewClient(rdb, jobs.ClientOptions{
		Prefix: s.config.Redis.Prefix, Retention: s.config.Jobs.Retention, BodyLimit: int(s.config.Jobs.BodyLimit),
	})
	return client, func() {
		_ = client.Close()
		_ = rdb.Close()
	}, nil
}

// connectError says what to do about a Redis that does not answer.
func (s *settings) connectError(err error) error {
	if s.config.Redis.Addr == config.Embedded {
		return fmt.Errorf("no worker serves the embedded Redis at %s (%w):\nstart bin/worker --embedded in another terminal, or name a Redis with --redis",
			s.config.Redis.EmbeddedAddr, err)
	}
	return fmt.Errorf("connect to Redis: %w", err)
}
