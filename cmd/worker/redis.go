package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/embedded"
	"github.com/sandloop/sandloop/internal/jobs"
)

// redisTimeout bounds the first answer of Redis.
const redisTimeout = 10 * time.Second

// queue is a connection to Redis, and the embedded server if that is where it leads.
type queue struct {
	redis.UniversalClient
	server *embedded.Server
}

// connectQueue connects to Redis and checks it, or serves the embedded one. Warnings go to the log.
func connectQueue(ctx context.Context, c config.Redis, log *slog.Logger) (*queue, error) {
	cli.SilenceRedis()
	q := &queue{}
	options := cli.RedisOptions(c)
	if c.Addr == config.Embedded {
		// It outlives ctx, for jobs still end after a signal.
		server, err := embedded.Start(context.WithoutCancel(ctx), c.EmbeddedAddr, log)
		if err != nil {
			return nil, err
		}
		q.server, options = server, jobs.RedisOptions{Addr: server.Addr()}
	}
	client, err := jobs.ConnectRedis(options)
	if err != nil {
		return nil, err
	}
	q.UniversalClient = client
	if q.server == nil {
		if err := q.check(ctx, c, log); err != nil {
			return nil, errors.Join(err, q.Close())
		}
	}
	return q, nil
}

func (q *queue) check(ctx context.Context, c config.Redis, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	warnings, err := jobs.CheckRedis(ctx, q.UniversalClient)
	for _, warning := range warnings {
		log.Warn("redis is not set up as a queue should be", "detail", warning)
	}
	if err != nil {
		shown := config.Config{Redis: c}.Redacted().Redis.Addr
		return fmt.Errorf("redis at %s: start it, or set redis.addr or --redis (--embedded needs none): %w", shown, err)
	}
	return nil
}

// Close closes the connection and ends the embedded server.
func (q *queue) Close() error {
	err := q.UniversalClient.Close()
	if q.server != nil {
		q.server.Close()
	}
	return err
}

// installation proposes an id for an embedded Redis, which has forgotten the one it had: whoever
// serves this address of this host now is what the reaper may take for the heir of those
// before. It is empty for a Redis that keeps its own.
func (q *queue) installation() string {
	if q.server == nil {
		return ""
	}
	host, _ := os.Hostname() // an unknown host only makes another id
	sum := sha256.Sum256([]byte(host + " " + q.server.Addr()))
	return "embedded-" + hex.EncodeToString(sum[:8])
}
