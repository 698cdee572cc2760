package cli

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/jobs"
)

// RedisOptions turns the configuration into what [jobs.ConnectRedis] takes. The embedded
// Redis is at its own address and has no password.
func RedisOptions(c config.Redis) jobs.RedisOptions {
	if c.Addr == config.Embedded {
		return jobs.RedisOptions{Addr: c.EmbeddedAddr}
	}
	return jobs.RedisOptions{
		Addr: c.Addr, Username: c.Username, Password: c.Password, DB: c.DB,
		SentinelUsername: c.SentinelUsername, SentinelPassword: c.SentinelPassword,
		TLS: c.TLS.Enabled, CA: c.TLS.CA, Cert: c.TLS.Cert, Key: c.TLS.Key, ServerName: c.TLS.ServerName,
	}
}

// SilenceRedis keeps go-redis from writing to standard error what comes as an error, too. It
// has one logger for the whole process, so only the first call does something.
func SilenceRedis() { silenceRedis.Do(func() { redis.SetLogger(silence{}) }) }

var silenceRedis sync.Once

type silence struct{}

// Printf does nothing.
func (silence) Printf(context.Context, string, ...any) {}
