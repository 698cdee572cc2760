package jobs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// releaseScript gives up an attempt without a result. ARGV: token, failed, returned, hopeless, excused or shutdown,
// line of history, most attempts, time, retention, channel for waiters, canceled result,
// result of a job that is given up. The reply is lost, done and the outcome, or queued and the dispatch.
var releaseScript = newScript(`
local state, token, released, outcome, dispatch = get('state', 'token', 'released', 'outcome', 'dispatch')
if released == ARGV[1] and state == 'queued' then
	return {'queued', dispatch}
end
if released == ARGV[1] and state == 'done' then
	return {'done', outcome}
end
if state ~= 'running' or token ~= ARGV[1] then
	return {'lost'}
end
redis.call('HSET', KEYS[1], 'released', ARGV[1])
remember(ARGV[3])
if get('cancel') then
	finish(ARGV[8], 'canceled', ARGV[5], ARGV[6], ARGV[7])
	return {'done', 'canceled'}
end
local counts = ARGV[2] ~= 'shutdown'
if ARGV[2] == 'excused' and redis.call('HINCRBY', KEYS[1], 'excused', 1) <= tonumber(ARGV[10]) then
	counts = false
end
local failures = counts and redis.call('HINCRBY', KEYS[1], 'failures', 1) or 0
if ARGV[2] == 'hopeless' or failures >= tonumber(ARGV[4]) then
	finish(ARGV[9], 'infra_error', ARGV[5], ARGV[6], ARGV[7])
	return {'done', 'infra_error'}
end
if ARGV[2] ~= 'failed' then
	dispatch = tostring(redis.call('HINCRBY', KEYS[1], 'dispatch', 1))
end
redis.call('HSET', KEYS[1], 'state', 'queued')
redis.call('HDEL', KEYS[1], 'token')
return {'queued', dispatch}
`)

// The reasons to give up an attempt: the first counts against the job's attempts, and so does the second, after which
// the job is dispatched anew; the third is the last whatever their number. The fourth and the fifth do not count, the
// fourth not more often than excuses.
const (
	releaseFailed   = "failed"
	releaseReturned = "returned"
	releaseHopeless = "hopeless"
	releaseExcused  = "excused"
	releaseShutdown = "shutdown"
)

// release gives up an attempt. The reply is that of the script.
func (w *Worker) release(ctx context.Context, a *attempt, reason, problem string) ([]string, error) {
	now := time.Now()
	last := w.exhausted(a.ref.ID, problem)
	if reason == releaseHopeless {
		last = w.store.ourEnding(a.ref.ID, sandbox.OutcomeInfraError, "sandloop cannot run the job; the program is not to blame: "+problem)
	}
	history := Attempt{Number: a.number, Worker: w.id, Started: a.started, Ended: now, Error: problem}.encode()
	reply, err := w.store.run(ctx, releaseScript, a.ref.ID, a.token, reason, history, strconv.Itoa(w.options.MaxAttempts),
		formatTime(now), durationMillis(w.store.retention), w.store.keys.doneChannel(a.ref.ID), w.store.canceledEnding(a.ref.ID), last,
		strconv.Itoa(excuses))
	if err != nil {
		return nil, fmt.Errorf("release job %s: %w", a.ref, err)
	}
	return reply, nil
}
