package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// sessionPause is how long a job waits whose session is not free. asynq rounds it to whole seconds, one or none.
	sessionPause = 500 * time.Millisecond
	// maxForwards is how often in a row a job is forwarded before it waits: a session that moves is somewhere soon.
	maxForwards = 3
)

// errSessionBusy sends a task to asynq's retries for sessionPause.
var errSessionBusy = fmt.Errorf("the session is not free: %w", errNotNow)

// handOverScript gives up an attempt of which nothing has run, as if it had not begun. ARGV: token, worker to
// forward the job to or nothing, most forwards in a row, time, retention, channel for waiters, canceled result. The reply is lost,
// done, or queued, the dispatch and the worker that gets the job; without one it waits under the same dispatch.
var handOverScript = newScript(`
local state, token, released, dispatch, at = get('state', 'token', 'released', 'dispatch', 'at')
if released == ARGV[1] and state == 'queued' then
	return {'queued', dispatch, at}
end
if released == ARGV[1] and state == 'done' then
	return {'done'}
end
if state ~= 'running' or token ~= ARGV[1] then
	return {'lost'}
end
redis.call('HINCRBY', KEYS[1], 'attempt', -1)
redis.call('HSET', KEYS[1], 'state', 'queued', 'released', ARGV[1], 'at', '')
redis.call('HDEL', KEYS[1], 'token', 'owner', 'started')
if get('cancel') then
	finish(ARGV[7], 'canceled', ARGV[4], ARGV[5], ARGV[6])
	return {'done'}
end
if ARGV[2] == '' or redis.call('HINCRBY', KEYS[1], 'forwards', 1) > tonumber(ARGV[3]) then
	redis.call('HDEL', KEYS[1], 'forwards')
	return {'queued', dispatch, ''}
end
redis.call('HSET', KEYS[1], 'at', ARGV[2])
return {'queued', tostring(redis.call('HINCRBY', KEYS[1], 'dispatch', 1)), ARGV[2]}
`)

// handsOver tells whether an error of Sessions.Run is no failure.
func handsOver(problem error) bool {
	var elsewhere *ElsewhereError
	return errors.Is(problem, ErrSessionBusy) || errors.As(problem, &elsewhere)
}

// handOver forwards a job to the worker that holds its session, or puts it off. The error it returns makes asynq
// try again soon.
func (w *Worker) handOver(ctx context.Context, a *attempt, problem error) error {
	target := ""
	var elsewhere *ElsewhereError
	if errors.As(problem, &elsewhere) && elsewhere.Worker != w.id && validName(elsewhere.Worker, maxWorkerID) {
		target = elsewhere.Worker
	}
	var reply []string
	err := w.insist(ctx, func(ctx context.Context) (err error) {
		reply, err = w.store.run(ctx, handOverScript, a.ref.ID, a.token, target, maxForwards, formatTime(time.Now()),
			durationMillis(w.store.retention), w.store.keys.doneChannel(a.ref.ID), w.store.canceledEnding(a.ref.ID))
		if err != nil {
			return fmt.Errorf("hand over job %s: %w", a.ref, err)
		}
		if reply[0] != "queued" || reply[2] == "" {
			return nil
		}
		return w.forward(ctx, a.ref.renewed(reply[1]), reply[2])
	})
	w.observeReleased(a, reply)
	switch {
	case err != nil:
		return err
	case reply[0] == "lost":
		return w.drop(a)
	case reply[0] == "queued" && reply[2] == "":
		w.counters.PutOff.Add(1)
		w.log.DebugContext(ctx, "job put off", "job", a.ref.ID, "dispatch", a.ref.Dispatch, "reason", problem)
		return fmt.Errorf("job %s: %w: %w", a.ref, errSessionBusy, problem)
	}
	return nil
}

// forward puts a job on the own queue of a worker.
func (w *Worker) forward(ctx context.Context, r ref, worker string) error {
	if err := w.store.enqueue(ctx, w.store.tasks, w.store.keys.workerQueue(worker), r); err != nil {
		return err
	}
	var beat *redis.IntCmd
	_, err := w.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Publish(ctx, w.store.keys.wakeWorker(worker), "")
		beat = pipe.Exists(ctx, w.store.keys.worker(worker))
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("forward job %s to worker %s: %w", r, worker, err)
	case beat.Val() == 0: // nobody may look into its queue any more
		if _, err := w.putBack(ctx, r.String(), ""); err != nil {
			return err
		}
		if err := w.store.removeForwarded(ctx, worker, false, []string{r.String()}); err != nil {
			return err
		}
		return w.store.forgetForwards(ctx, worker)
	}
	w.counters.Forwarded.Add(1)
	w.log.DebugContext(ctx, "job forwarded", "job", r.ID, "dispatch", r.Dispatch, "to", worker)
	return nil
}
