package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// recoverScript puts a job back on its queue whose worker died. ARGV: dispatch that the
// worker had, worker, time, most attempts, retention, channel for waiters, canceled result,
// result of a job that is given up. The reply is none, or done and the outcome, dead or settled and nothing, or queued and the
// dispatch, each with the queue and the tenant.
//
// A job that is queued with a newer dispatch is reported as queued again: whoever raised
// it may have died before the task was enqueued.
var recoverScript = newScript(`
local state, dispatch, owner, queue, cancel, tenant = get('state', 'dispatch', 'owner', 'queue', 'cancel', 'tenant')
if state == 'done' and get('outcome') == 'infra_error' then
	return {'dead', '', queue, tenant}
end
if not state then
	return {'none'}
end
if state == 'done' then
	return {'settled', '', queue, tenant}
end
if state == 'queued' and tonumber(dispatch) > tonumber(ARGV[1]) then
	return {'queued', dispatch, queue, tenant}
end
if dispatch ~= ARGV[1] or (state == 'running' and owner ~= ARGV[2]) then
	return {'none'}
end
if state == 'running' then
	local attempt, started = get('attempt', 'started')
	redis.call('HDEL', KEYS[1], 'token') -- should the worker come back, it has lost the job
	remember('{"number":' .. attempt .. ',"worker":"' .. owner .. '","started":' .. started ..
		',"ended":' .. ARGV[3] .. ',"error":"worker lost"}\n')
	if cancel then
		finish(ARGV[7], 'canceled', ARGV[3], ARGV[5], ARGV[6])
		return {'done', 'canceled', queue, tenant}
	end
	if redis.call('HINCRBY', KEYS[1], 'failures', 1) >= tonumber(ARGV[4]) then
		finish(ARGV[8], 'infra_error', ARGV[3], ARGV[5], ARGV[6])
		return {'done', 'infra_error', queue, tenant}
	end
end
redis.call('HSET', KEYS[1], 'state', 'queued')
return {'queued', tostring(redis.call('HINCRBY', KEYS[1], 'dispatch', 1)), queue, tenant}
`)

// recoverWorker puts back everything that a dead worker had taken or was to take and forgets the worker.
func (w *Worker) recoverWorker(ctx context.Context, dead string) error {
	taken, err := w.store.rdb.SMembers(ctx, w.store.keys.running(dead)).Result()
	if err != nil {
		return fmt.Errorf("read jobs of worker %s: %w", dead, err)
	}
	forwarded, err := w.store.forwardedTasks(ctx, dead, "pending", "retry", "active")
	if err != nil {
		return err
	}
	var errs []error
	for _, member := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(taken, forwarded)))) {
		errs = append(errs, w.recoverJob(ctx, member, dead))
	}
	if errors.Join(errs...) == nil {
		errs = append(errs, w.store.removeForwarded(ctx, dead, true, forwarded), w.store.forgetForwards(ctx, dead))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the worker stays registered, so that somebody tries again
	}
	w.log.WarnContext(ctx, "worker was lost", "lost", dead, "jobs", len(taken))
	return w.store.rdb.SRem(ctx, w.store.keys.workers(), dead).Err()
}

// recoverJob puts back one job, named as in a running set, that a worker had taken.
func (w *Worker) recoverJob(ctx context.Context, member, worker string) error {
	queued, err := w.putBack(ctx, member, worker)
	if err != nil {
		return err
	}
	if queued {
		w.counters.Recovered.Add(1)
		w.log.WarnContext(ctx, "job recovered", "job", member, "lost", worker)
	}
	return w.store.rdb.SRem(ctx, w.store.keys.running(worker), member).Err()
}

// putBack dispatches a job anew if it waits, or runs on the given worker, under the dispatch that member names. It
// reports whether the job is queued now.
func (w *Worker) putBack(ctx context.Context, member, worker string) (bool, error) {
	r, ok := parseRef(member)
	if !ok {
		return false, nil
	}
	reply, err := w.store.run(ctx, recoverScript, r.ID, strconv.Itoa(r.Dispatch), worker, formatTime(time.Now()),
		strconv.Itoa(w.options.MaxAttempts), durationMillis(w.store.retention), w.store.keys.doneChannel(r.ID),
		w.store.canceledEnding(r.ID), w.exhausted(r.ID, "its worker was lost"))
	if err != nil {
		return false, fmt.Errorf("recover job %s: %w", r, err)
	}
	if reply[0] != "none" { // asynq finds out only later that the task does not run
		room := newTurns(w.store.keys, Queue(reply[2]))
		if err := room.vacate(ctx, w.store.rdb, reply[3], member).Err(); err != nil {
			return false, fmt.Errorf("make room for tenant %q: %w", reply[3], err)
		}
	}
	switch reply[0] {
	case "queued":
		return true, w.store.dispatch(ctx, Queue(reply[2]), r.renewed(reply[1]))
	case "dead": // who gave it up may have died before listing it
		w.bury(ctx, Queue(reply[2]), r.ID)
	case "done":
		w.killAll(ctx, r.ID)
		w.observe(Observation{Queue: Queue(reply[2]), Outcome: sandbox.Outcome(reply[1])})
		if sandbox.Outcome(reply[1]) == sandbox.OutcomeInfraError {
			w.bury(ctx, Queue(reply[2]), r.ID)
		}
	}
	return false, nil
}

// exhausted is the stored result of a job that is given up.
func (w *Worker) exhausted(id, problem string) []byte {
	return w.store.ourEnding(id, sandbox.OutcomeInfraError, fmt.Sprintf(
		"sandloop failed to run the job %d times and gave up; the program is not to blame; the last time: %s", w.options.MaxAttempts, problem))
}

// bury lists a job among the dead letters of its queue for as long as its result is kept.
func (w *Worker) bury(ctx context.Context, queue Queue, id string) {
	now := time.Now()
	_, err := w.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZAdd(ctx, w.store.keys.dead(queue), redis.Z{Score: float64(now.UnixMilli()), Member: id})
		pipe.ZRemRangeByScore(ctx, w.store.keys.dead(queue), "-inf", strconv.FormatInt(now.Add(-w.store.retention).UnixMilli(), 10))
		pipe.PExpire(ctx, w.store.keys.dead(queue), w.store.retention)
		return nil
	})
	if err != nil {
		w.log.WarnContext(ctx, "dead letter not listed", "job", id, "error", err)
	}
}
