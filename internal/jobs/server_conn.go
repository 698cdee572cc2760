package jobs

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// safetyPoll is how long a server waits for a wake message before it looks by itself. It
	// is short because asynq fixes a task's lease before it asks for the task.
	safetyPoll = time.Second
	// persistMax is the longest pause between two tries while Redis does not answer.
	persistMax = time.Second
)

// serverConn is the connection of the asynq server of one queue. It changes what asynq's
// scripts do in three ways. Dequeuing takes a slot first and, instead of finding nothing
// once a second, waits for a wake message. It takes from the tenants in turn. And every script
// is tried again while Redis does not answer, because asynq runs a task again whose end it could not write.
type serverConn struct {
	redis.UniversalClient
	queue    Queue
	pending  string // the key of asynq's list of the queue's waiting tasks
	turns    *turns // nil in the queue of one worker or host, whose tasks have no tenants
	slots    *slots
	handover chan slot     // takes the slot of each task to the handler
	wake     chan struct{} // capacity 1
	stop     <-chan struct{}
	closing  <-chan struct{}
	log      *slog.Logger
	down     atomic.Bool
}

// EvalSha runs one of asynq's scripts by its hash.
func (c *serverConn) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return c.eval(ctx, keys, args, func() *redis.Cmd { return c.UniversalClient.EvalSha(ctx, sha, keys, args...) })
}

// Eval runs one of asynq's scripts that Redis does not know yet.
func (c *serverConn) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.eval(ctx, keys, args, func() *redis.Cmd { return c.UniversalClient.Eval(ctx, script, keys, args...) })
}

func (c *serverConn) eval(ctx context.Context, keys []string, args []any, script func() *redis.Cmd) *redis.Cmd {
	if len(keys) == 4 && keys[0] == c.pending {
		return c.dequeue(ctx, func() (*redis.Cmd, time.Duration) {
			if c.turns != nil {
				return c.turns.take(ctx, c.UniversalClient, keys, args)
			}
			return script(), 0
		})
	}
	cmd := c.persist(ctx, script)
	if c.turns != nil && !unanswered(cmd.Err()) && !redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
		if task, tenant, bounded := c.turns.ended(keys, args); bounded { // without it there is room after a second
			c.persist(ctx, func() *redis.Cmd { return c.turns.vacate(ctx, c.UniversalClient, tenant, task) })
		}
	}
	if len(keys) == 2 && keys[1] == c.pending { // the forwarder: retries that are due
		if moved, err := cmd.Int(); err == nil && moved > 0 {
			notify(c.wake)
		}
	}
	return cmd
}

// dequeue returns the reply that holds a task, after handing its slot over, or redis.Nil
// when none came for the time of a safety poll. The script tells beside its reply after what time it may have
// a task, or 0.
func (c *serverConn) dequeue(ctx context.Context, script func() (*redis.Cmd, time.Duration)) *redis.Cmd {
	// Closed, because a timer tells only the first who looks.
	expired := make(chan struct{})
	expiry := time.AfterFunc(safetyPoll*3/4+rand.N(safetyPoll/2), func() { close(expired) }) //nolint:gosec // spreads load, hides nothing
	defer expiry.Stop()
	for {
		held, ok := c.slots.acquire(c.queue, c.stop, expired)
		if !ok {
			return nothing(ctx)
		}
		cmd, pause := script()
		err := cmd.Err()
		if err == nil {
			c.reachable(true, nil)
			c.handover <- held
			return cmd
		}
		c.slots.release(held)
		wake := c.wake
		switch {
		case redis.HasErrorPrefix(err, "NOSCRIPT"):
			return cmd // asynq sends the script itself next
		case errors.Is(err, redis.Nil):
			c.reachable(true, nil)
		default:
			c.reachable(false, err)
			wake = nil
		}
		if !c.await(wake, pause, expired) {
			return nothing(ctx)
		}
	}
}

// await waits for a wake message, or for a pause unless that is 0. It reports false when expired or stop was closed first.
func (c *serverConn) await(wake <-chan struct{}, pause time.Duration, expired <-chan struct{}) bool {
	var over <-chan time.Time
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-wake:
	case <-over:
	case <-expired:
		return false
	case <-c.stop:
		return false
	}
	return true
}

func nothing(ctx context.Context) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(redis.Nil)
	return cmd
}

// persist tries a script until Redis answers, its context ends or the worker closes.
func (c *serverConn) persist(ctx context.Context, script func() *redis.Cmd) *redis.Cmd {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, persistMax) {
		cmd := script()
		if !unanswered(cmd.Err()) {
			return cmd
		}
		c.reachable(false, cmd.Err())
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return cmd
		case <-c.closing:
			return cmd
		}
	}
}

// reachable logs when Redis goes away and when it is back.
func (c *serverConn) reachable(ok bool, err error) {
	switch {
	case !ok && c.down.CompareAndSwap(false, true):
		c.log.Warn("redis does not answer", "queue", c.queue, "error", err)
	case ok && c.down.CompareAndSwap(true, false):
		c.log.Info("redis answers again", "queue", c.queue)
	}
}

// unanswered tells whether a command may do better later: there was no reply, or one that
// says that the server is not ready.
func unanswered(err error) bool {
	var reply redis.Error
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return false
	case !errors.As(err, &reply):
		return true
	}
	for _, passing := range []string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "OOM", "MISCONF", "NOREPLICAS"} {
		if strings.HasPrefix(err.Error(), passing) {
			return true
		}
	}
	return false
}
