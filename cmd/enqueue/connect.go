package main

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/jobs"
)

// connectTime bounds the first answer of Redis.
const connectTime = 5 * time.Second

// poolSize is the most connections that one command line needs.
const poolSize = 4

// connect makes a client on the configured Redis and makes sure that it answers. The function
// it returns closes both.
func (s *settings) connect(ctx context.Context) (*jobs.Client, func(), error) {
	redis.SetLogger(silence{}) // what it would say comes as an error, too
	rdb, err := jobs.ConnectRedis(redisOptions(s.config.Redis))
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

// redisOptions turns the configuration into what the queue takes.
func redisOptions(c config.Redis) jobs.RedisOptions {
	if c.Addr == config.Embedded {
		return jobs.RedisOptions{Addr: c.EmbeddedAddr, PoolSize: poolSize}
	}
	return jobs.RedisOptions{
		Addr: c.Addr, Username: c.Username, Password: c.Password, DB: c.DB,
		SentinelUsername: c.SentinelUsername, SentinelPassword: c.SentinelPassword,
		TLS: c.TLS.Enabled, CA: c.TLS.CA, Cert: c.TLS.Cert, Key: c.TLS.Key, ServerName: c.TLS.ServerName,
		PoolSize: poolSize,
	}
}

// connectError says what to do about a Redis that does not answer.
func (s *settings) connectError(err error) error {
	if s.config.Redis.Addr == config.Embedded {
		return fmt.Errorf("no worker serves the embedded Redis at %s (%w):\nstart bin/worker --embedded in another terminal, or name a Redis with --redis",
			s.config.Redis.EmbeddedAddr, err)
	}
	return fmt.Errorf("connect to Redis: %w", err)
}

// silence keeps go-redis from writing to standard error.
type silence struct{}

// Printf does nothing.
func (silence) Printf(context.Context, string, ...any) {}
