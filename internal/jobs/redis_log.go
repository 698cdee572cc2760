package jobs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogRedis makes go-redis, which otherwise writes to stderr, log at level debug: what it
// reports is either mended by its own retries or returned as an error. It concerns the whole
// process, so it is for main to call, before anything connects.
func LogRedis(log *slog.Logger) { redis.SetLogger(redisLog{log}) }

type redisLog struct{ log *slog.Logger }

func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, fmt.Sprintf(format, args...))
}
