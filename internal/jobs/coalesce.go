package jobs

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// coalescing is a connection to Redis that sends the scripts of many goroutines as one
// pipeline, because asynq has no call that enqueues more than one task. It must be closed
// when no call is under way any more.
type coalescing struct {
	redis.UniversalClient
	calls chan *scriptCall
	done  chan struct{}
}

type scriptCall struct {
	send func(redis.Pipeliner) *redis.Cmd
	cmd  *redis.Cmd
	sent chan struct{}
}

const coalesceMost = 512

func newCoalescing(ctx context.Context, rdb redis.UniversalClient) *coalescing {
	c := &coalescing{UniversalClient: rdb, calls: make(chan *scriptCall, coalesceMost), done: make(chan struct{})}
	go c.run(ctx)
	return c
}

func (c *coalescing) close() {
	close(c.calls)
	<-c.done
}

// EvalSha runs a script by its hash together with those of other callers.
func (c *coalescing) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return c.call(func(pipe redis.Pipeliner) *redis.Cmd { return pipe.EvalSha(ctx, sha, keys, args...) })
}

// Eval runs a script together with those of other callers.
func (c *coalescing) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.call(func(pipe redis.Pipeliner) *redis.Cmd { return pipe.Eval(ctx, script, keys, args...) })
}

func (c *coalescing) call(send func(redis.Pipeliner) *redis.Cmd) *redis.Cmd {
	call := &scriptCall{send: send, sent: make(chan struct{})}
	c.calls <- call
	<-call.sent
	return call.cmd
}

// run sends whatever has come together while the previous pipeline was under way.
func (c *coalescing) run(ctx context.Context) {
	defer close(c.done)
	for first := range c.calls {
		batch := []*scriptCall{first}
		for more := true; more && len(batch) < coalesceMost; {
			select {
			case call, open := <-c.calls:
				if more = open; open {
					batch = append(batch, call)
				}
			default:
				more = false
			}
		}
		pipe := c.Pipeline()
		for _, call := range batch {
			call.cmd = call.send(pipe)
		}
		_, _ = pipe.Exec(ctx) // each command has its own error
		for _, call := range batch {
			close(call.sent)
		}
	}
}
