package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// choreType is the type of the task that reaps a Docker host.
const choreType = "sandloop:reap"

// chores runs the periodic work of one Docker host. Every worker of the host schedules it;
// whichever takes the task does it, and a guard in Redis makes it once a period.
type chores struct {
	server    *asynq.Server
	scheduler *asynq.Scheduler
}

// startChores starts the host's chores, if it has any.
func (w *Worker) startChores(ctx context.Context) (*chores, error) {
	if w.options.Reap == nil {
		return &chores{}, nil
	}
	period, queue := w.options.ReapEvery.Round(time.Second), w.store.keys.hostQueue(w.options.Host)
	conn := &serverConn{
		queue: Default, slots: newSlots(1, 0, DefaultWeights()), handover: make(chan slot, 1), wake: make(chan struct{}, 1),
	}
	c := &chores{
		server: w.newServer(queue, conn, w.untilStop(ctx)),
		scheduler: asynq.NewSchedulerFromRedisClient(w.store.rdb, &asynq.SchedulerOpts{
			Logger: asynqLog{w.log, slog.LevelDebug}, LogLevel: asynq.DebugLevel, // it complains that it cannot close our connection
		}),
	}
	task := asynq.NewTask(choreType, nil)
	options := []asynq.Option{
		asynq.Queue(queue), asynq.Unique(max(time.Second, period-period/10)), asynq.MaxRetry(1), asynq.Timeout(period + time.Minute),
	}
	if _, err := c.scheduler.Register("@every "+period.String(), task, options...); err != nil {
		return &chores{}, fmt.Errorf("schedule reaping of host %s: %w", w.options.Host, err)
	}
	reap := func(ctx context.Context, _ *asynq.Task) error {
		held := <-conn.handover
		defer conn.slots.release(held)
		return w.reap(ctx)
	}
	if err := c.server.Start(asynq.HandlerFunc(reap)); err != nil {
		return &chores{}, fmt.Errorf("start server of host %s: %w", w.options.Host, err)
	}
	if err := c.scheduler.Start(); err != nil {
		c.server.Shutdown()
		return &chores{}, fmt.Errorf("start scheduler of host %s: %w", w.options.Host, err)
	}
	if _, err := w.store.tasks.Enqueue(task, options...); err != nil { // the first one now
		w.log.Debug("reaping at start not enqueued", "error", err)
	}
	return c, nil
}

// untilStop makes contexts that end when the worker stops.
func (w *Worker) untilStop(ctx context.Context) func() context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		<-w.stop
		cancel(ErrShutdown)
	}()
	return func() context.Context { return ctx }
}

// reap does the chore unless it was done in this period. A failure is logged and not tried
// again before the next period.
func (w *Worker) reap(ctx context.Context) error {
	guard := w.options.ReapEvery - w.options.ReapEvery/10
	err := w.store.rdb.SetArgs(ctx, w.store.keys.reaped(w.options.Host), w.id, redis.SetArgs{Mode: "NX", TTL: guard}).Err()
	switch {
	case ignoreNil(err) != nil:
		return fmt.Errorf("guard reaping of host %s: %w", w.options.Host, err)
	case err != nil:
		return nil
	}
	if err := w.options.Reap(ctx); err != nil && ctx.Err() == nil {
		w.log.ErrorContext(ctx, "reaping did not end well", "host", w.options.Host, "error", err)
	}
	return nil
}

// stop ends the chores, if any were started.
func (c *chores) stop() {
	if c.scheduler != nil {
		c.scheduler.Shutdown()
		c.server.Shutdown()
	}
}
