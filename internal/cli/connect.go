package cli

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

// Connect connects to the configured Redis with at most so many connections and makes sure that
// it answers. The caller closes it. The error says what to do.
func Connect(ctx context.Context, c config.Config, connections int) (redis.UniversalClient, error) {
	SilenceRedis()
	options := RedisOptions(c.Redis)
	options.PoolSize = connections
	rdb, err := jobs.ConnectRedis(options)
	if err != nil {
		return nil, UsageError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	if err := rdb.Ping(ctx).Err(); err != nil {
		_ = rdb.Close()
		return nil, connectError(c.Redis, err)
	}
	return rdb, nil
}

// connectError says what to do about a Redis that does not answer.
func connectError(c config.Redis, err error) error {
	if c.Addr == config.Embedded {
		return fmt.Errorf("no worker serves the embedded Redis at %s (%w):\nstart bin/worker --embedded in another terminal, or name a Redis with --redis",
			c.EmbeddedAddr, err)
	}
	return fmt.Errorf("connect to Redis: %w", err)
}
