package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// forwards is what a worker has for the queue of its own, into which others put the jobs of the live sessions that it
// holds. A job in it is queued under the newest dispatch, so whoever dispatches it anew takes it away.
type forwards struct {
	slots *slots
	wake  chan struct{} // capacity 1
}

func newForwards(size int) *forwards {
	return &forwards{slots: newSlots(size, 0, DefaultWeights()), wake: make(chan struct{}, 1)}
}

// serveForwards starts the server of the worker's own queue.
func (w *Worker) serveForwards() (*asynq.Server, error) {
	handover := make(chan slot, w.options.SessionSlots)
	server := w.newServer(w.store.keys.workerQueue(w.id), &serverConn{
		queue: Default, slots: w.forwards.slots, handover: handover, wake: w.forwards.wake,
	}, nil)
	if err := server.Start(&handler{worker: w, slots: w.forwards.slots, handover: handover, forwarded: true}); err != nil {
		return nil, fmt.Errorf("start server of worker %s: %w", w.id, err)
	}
	return server, nil
}

// returnWhileStopping gives to the others, from when the worker stops until ctx ends, what is forwarded to it.
func (w *Worker) returnWhileStopping(ctx context.Context) {
	select {
	case <-w.stop:
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		if err := w.returnForwards(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "forwarded jobs not returned, will try again", "error", err)
		}
		select {
		case <-w.forwards.wake:
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// returnForwards puts the jobs that wait in the worker's own queue back on theirs.
func (w *Worker) returnForwards(ctx context.Context) error {
	waiting, err := w.store.forwardedTasks(ctx, w.id, "pending", "retry")
	if err != nil || len(waiting) == 0 {
		return err
	}
	for _, member := range waiting {
		queued, err := w.putBack(ctx, member, "") // nobody: one that begins meanwhile runs on
		if err != nil {
			return err
		}
		if queued {
			w.counters.Requeued.Add(1)
			w.log.InfoContext(ctx, "forwarded job returned", "job", member)
		}
	}
	return w.store.removeForwarded(ctx, w.id, false, waiting)
}

// forwardedTasks lists the dispatches in a worker's own queue. Kinds are asynq's lists: pending, active, retry.
func (s *store) forwardedTasks(ctx context.Context, worker string, kinds ...string) (tasks []string, err error) {
	queue := s.keys.workerQueue(worker)
	found := make([]*redis.StringSliceCmd, len(kinds))
	_, err = s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, kind := range kinds {
			if kind == "retry" {
				found[i] = pipe.ZRange(ctx, asynqKey(queue, kind), 0, -1)
			} else {
				found[i] = pipe.LRange(ctx, asynqKey(queue, kind), 0, -1)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list jobs forwarded to worker %s: %w", worker, err)
	}
	for _, list := range found {
		tasks = append(tasks, list.Val()...)
	}
	return tasks, nil
}

// removeForwardedScript removes tasks that wait in a queue of asynq's. KEYS: its lists pending, retry and, if its
// worker is dead, active and lease. ARGV: what the keys of its tasks start with, then the tasks.
var removeForwardedScript = redis.NewScript(`
for i = 2, #ARGV do
	local removed = redis.call('LREM', KEYS[1], 0, ARGV[i]) + redis.call('ZREM', KEYS[2], ARGV[i])
	if KEYS[3] then
		removed = removed + redis.call('LREM', KEYS[3], 0, ARGV[i])
		redis.call('ZREM', KEYS[4], ARGV[i])
	end
	if removed > 0 then
		redis.call('DEL', ARGV[1] .. ARGV[i])
	end
end
return {}
`)

// removeForwarded removes tasks from a worker's own queue, and of a dead one also those that it had taken. It touches
// no other task, because a worker of the same name may have started.
func (s *store) removeForwarded(ctx context.Context, worker string, dead bool, tasks []string) error {
	queue := s.keys.workerQueue(worker)
	keys := []string{asynqKey(queue, "pending"), asynqKey(queue, "retry")}
	if dead {
		keys = append(keys, asynqKey(queue, "active"), asynqKey(queue, "lease"))
	}
	args := []any{asynqKey(queue, "t:")}
	for _, task := range tasks {
		args = append(args, task)
	}
	if err := removeForwardedScript.Run(ctx, s.rdb, keys, args...).Err(); err != nil {
		return fmt.Errorf("remove jobs forwarded to worker %s: %w", worker, err)
	}
	return nil
}

// forgetForwards removes what asynq keeps of a worker's own queue beside the tasks in it.
func (s *store) forgetForwards(ctx context.Context, worker string) error {
	queue := s.keys.workerQueue(worker)
	_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.SRem(ctx, "asynq:queues", queue)
		pipe.Del(ctx, asynqKey(queue, "processed"), asynqKey(queue, "failed"))
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget queue of worker %s: %w", worker, err)
	}
	return nil
}
