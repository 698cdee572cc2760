package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// defaultDepth is how many jobs may wait in a queue when nobody has set it.
const defaultDepth = 1_000_000

// The ways in which a task is admitted.
const (
	// admitNew is of a job that this submission has made.
	admitNew = "new"
	// admitAgain is of a job that is there already and waits, so that it may be on its way elsewhere or have been refused there.
	admitAgain = "again"
	// admitForced is of a job that was accepted: it is never refused and goes before its tenant's others.
	admitForced = "forced"
)

// admission is how a task joins its tenant's, and whether it did. It travels with the context through asynq's client.
type admission struct {
	base    string // what our keys of the queue start with
	queue   Queue
	tenant  string
	size    int // of the stored body in bytes
	mode    string
	refusal *QuotaError // set if it did not
}

type admissionKey struct{}

// admitScript stands in for asynq's script that enqueues a task. It writes the task as that does, but has it wait among its
// tenant's, if there is room. KEYS: asynq's task and its list pending. ARGV: base, message, task, time in ns, tenant, size, mode, depth
// if none was set, and for how many ms a refusal is remembered. The reply is exists; admitted; or refused, whose bound it was, which one, the
// bound, what is used of it, and after how many ms to try again.
var admitScript = newTurnsScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then
	return {'exists'}
end
local id, tenant, size, mode = ARGV[3], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local memo = base .. 'refused:' .. id
-- pace returns how many jobs a second were taken of late, of those that total counts, and for how long it looked. It looks back
-- 10 s or to when there was nothing to take.
local function pace(key)
	local time, values = now(), redis.call('HMGET', key, 'total', 'since', 'seen', 'rate')
	local total, since, seen, rate = tonumber(values[1] or 0), tonumber(values[2] or time), tonumber(values[3] or 0), tonumber(values[4] or 0)
	local seconds, known = math.max(1, (time - since) / 1000000), rate > 0 and 10 or 0
	if seconds >= 10 and total > seen then
		rate, known = (total - seen) / seconds, 10
		redis.call('HSET', key, 'rate', rate)
		mark(key, time)
		return rate, seconds
	end
	return (rate * known + total - seen) / (known + seconds), seconds
end
-- retry returns after how many ms that many jobs will have been taken.
local function retry(key, jobs)
	local rate, seconds = pace(key)
	if rate == 0 then
		return math.min(300000, seconds < 10 and 3000 or seconds * 1000)
	end
	return math.min(300000, math.max(1000, jobs * 1000 / rate))
end
local function check(who, key, jobs, bytes, most, mostBytes)
	local function refuse(limit, max, used, after)
		local reply = {'refused', who, limit}
		for _, number in ipairs({max, used, after}) do
			table.insert(reply, string.format('%.0f', number))
		end
		return reply
	end
	if most > 0 and jobs + 1 > most then
		return refuse('max_queued', most, jobs, retry(key, jobs + 1 - most))
	end
	if mostBytes > 0 and size > mostBytes then
		return refuse('max_queued_bytes', mostBytes, bytes, 0)
	end
	if mostBytes > 0 and bytes + size > mostBytes then
		return refuse('max_queued_bytes', mostBytes, bytes, retry(key, (bytes + size - mostBytes) * jobs / bytes))
	end
end
local bounded = false
local function refused()
	local quota = limits(tenant)
	local most, mostBytes = quota.max_queued or 0, quota.max_queued_bytes or 0
	bounded = most + mostBytes > 0
	local refusal
	if bounded then
		local bytes = tonumber(redis.call('HGET', tenantKey(tenant), 'bytes') or 0)
		refusal = check('tenant', tenantKey(tenant), redis.call('ZCARD', waiting(tenant)), bytes, most, mostBytes)
	end
	local depth = redis.call('HMGET', queue, 'jobs', 'bytes', 'max_queued', 'max_queued_bytes')
	return refusal or check('queue', queue, tonumber(depth[1] or 0), tonumber(depth[2] or 0), tonumber(depth[3] or ARGV[8]), tonumber(depth[4] or 0))
end
if mode == 'again' then
	local before = redis.call('GET', memo)
	if before then
		return cjson.decode(before)
	end
end
if mode ~= 'forced' then
	local refusal = refused()
	if refusal then
		redis.call('SET', memo, cjson.encode(refusal), 'PX', ARGV[9])
		return refusal
	end
end
redis.call('HSET', KEYS[1], 'msg', ARGV[2], 'state', 'pending', 'pending_since', ARGV[4], 'tenant', tenant, 'size', ARGV[6])
put(tenant, id, ARGV[6], mode == 'forced', bounded)
return {'admitted'}
`)

// scheduleScript stands in for asynq's script that schedules a task, and adds whose it is. KEYS: asynq's task and set of
// scheduled tasks. ARGV: message, when, task, tenant, size. The reply is asynq's: 0 if the task exists.
var scheduleScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
redis.call('HSET', KEYS[1], 'msg', ARGV[1], 'state', 'scheduled', 'tenant', ARGV[4], 'size', ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[3])
return 1
`)

// admitting is the connection of asynq's client. Tasks that come with an admission join their tenant's instead of
// asynq's list.
type admitting struct{ redis.UniversalClient }

// EvalSha runs one of asynq's scripts by its hash, or what stands in for it.
func (c admitting) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if a, ok := ctx.Value(admissionKey{}).(*admission); ok {
		return a.admit(ctx, c.UniversalClient, keys, args)
	}
	return c.UniversalClient.EvalSha(ctx, sha, keys, args...)
}

// admit does for a task what asynq's script would have done with these keys and arguments.
func (a *admission) admit(ctx context.Context, rdb redis.Scripter, keys []string, args []any) *redis.Cmd {
	if strings.HasSuffix(keys[1], ":scheduled") {
		return scheduleScript.Run(ctx, rdb, keys, append(args, a.tenant, a.size)...)
	}
	cmd := redis.NewCmd(ctx)
	reply, err := admitScript.Run(ctx, rdb, keys, append(append([]any{a.base}, args...),
		a.tenant, a.size, a.mode, defaultDepth, refusalMark.Milliseconds())...).StringSlice()
	switch {
	case err != nil:
		cmd.SetErr(err)
	case reply[0] == "exists":
		cmd.SetVal(int64(0))
	case reply[0] == "refused":
		a.refusal = parseRefusal(reply, a.queue, a.tenant, a.size)
		cmd.SetVal(int64(1))
	default:
		cmd.SetVal(int64(1))
	}
	return cmd
}

// admit lets a dispatch of a job wait in one of the queues. One that does already is success. The error may be a QuotaError.
func (s *store) admit(ctx context.Context, tasks *asynq.Client, r ref, a *admission, more ...asynq.Option) error {
	a.base = s.keys.turns(a.queue)
	err := s.enqueue(context.WithValue(ctx, admissionKey{}, a), tasks, s.keys.asynqQueue(a.queue), r, more...)
	if err == nil && a.refusal != nil {
		return a.refusal
	}
	return err
}

// accepted is the admission of a job that was accepted before.
func (s *store) accepted(ctx context.Context, queue Queue, id string) (*admission, error) {
	var tenant *redis.StringCmd
	var size *redis.IntCmd
	_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		tenant, size = pipe.HGet(ctx, s.keys.state(id), fieldTenant), pipe.StrLen(ctx, s.keys.body(id))
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("read tenant of job %s: %w", id, err)
	}
	return &admission{queue: queue, tenant: tenant.Val(), size: int(size.Val()), mode: admitForced}, nil
}
