package metrics

import (
	"context"
	"errors"
	"net"

	"github.com/redis/go-redis/v9"
)

// WatchRedis counts the failures of a client from now on.
func (m *Metrics) WatchRedis(rdb redis.UniversalClient) { rdb.AddHook(redisHook{m}) }

type redisHook struct{ metrics *Metrics }

// DialHook changes nothing: a command that gets no connection fails, too.
func (redisHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook counts commands that failed.
func (h redisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		h.count(cmd, err)
		return err
	}
}

// ProcessPipelineHook counts pipelines that failed, each once.
func (h redisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if h.count(cmd, cmd.Err()) {
				break
			}
		}
		return err
	}
}

// count counts a command if it failed, and reports that. A new connection tells Redis the name of its client, which those
// before 7.2 do not take, and that is nobody's failure.
func (h redisHook) count(cmd redis.Cmder, err error) bool {
	kind := failure(err)
	if kind == "" || cmd.Name() == "client" {
		return false
	}
	h.metrics.redisErrors.WithLabelValues(kind).Inc()
	return true
}

// failure is the kind of an error, empty if it is no failure of Redis or of the way to it: nothing was found, a script has
// to be sent whole, a cluster sends its client elsewhere, or nobody wanted the answer any more.
func failure(err error) string {
	var reply redis.Error
	var network net.Error
	switch {
	case err == nil, errors.Is(err, redis.Nil), errors.Is(err, context.Canceled), errors.Is(err, redis.ErrClosed):
		return ""
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, redis.ErrPoolTimeout):
		return "timeout"
	case errors.As(err, &network):
		if network.Timeout() {
			return "timeout"
		}
		return "connection"
	case !errors.As(err, &reply):
		return "connection"
	}
	for _, answer := range []string{"NOSCRIPT", "MOVED", "ASK"} {
		if redis.HasErrorPrefix(err, answer) {
			return ""
		}
	}
	return "reply"
}
