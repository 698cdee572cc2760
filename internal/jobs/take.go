package jobs

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// takeScript stands in for asynq's script that dequeues, and takes the task of the tenant whose turn it is among those that
// may start one. What asynq itself put into its list, such as a retry that is due, goes before its tenant's other tasks;
// a task there that has no tenant is taken at once. A tenant that may start nothing is held, so that no call looks at it in
// vain: until its rate allows the next one, or for a second, after which those of its running tasks are forgotten that
// have no lease any more.
//
// KEYS: asynq's lists pending, paused, active and lease. ARGV: base, end of the lease, what the keys of tasks start with. The reply
// is none; wait and the time in ms after which there may be something; or task, its message and, if the tenant's concurrency
// is bounded, id and tenant.
var takeScript = newTurnsScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then
	return {'none'}
end
local function start(id)
	redis.call('LPUSH', KEYS[3], id)
	redis.call('HSET', ARGV[3] .. id, 'state', 'active')
	redis.call('HDEL', ARGV[3] .. id, 'pending_since')
	redis.call('ZADD', KEYS[4], ARGV[2], id)
end
local function fromAsynq()
	for _ = 1, 100 do
		local id = redis.call('RPOP', KEYS[1])
		if not id then
			return
		end
		local message, tenant, size = unpack(redis.call('HMGET', ARGV[3] .. id, 'msg', 'tenant', 'size'))
		if message and not tenant then
			start(id)
			return {'task', message}
		elseif message then
			putFirst(tenant, id, size or 0, false)
		end
	end
end
local function lookAgain(time)
	for _, tenant in ipairs(redis.call('ZRANGEBYSCORE', base .. 'held', '-inf', time, 'LIMIT', 0, 20)) do
		for _, id in ipairs(redis.call('SMEMBERS', running(tenant))) do
			if not redis.call('ZSCORE', KEYS[4], id) then
				redis.call('SREM', running(tenant), id)
			end
		end
		redis.call('ZREM', base .. 'held', tenant)
		redis.call('ZADD', base .. 'turns', math.max(tonumber(redis.call('HGET', tenantKey(tenant), 'turn') or 0), clock()), tenant)
	end
end
-- blocked returns when to look again at a tenant that may start nothing now, or else what a start makes due next by its rate.
local function blocked(tenant, quota)
	local most, rate = quota.concurrency or 0, quota.rate or 0
	if most > 0 and redis.call('SCARD', running(tenant)) >= most then
		return now() + 1000000
	end
	if rate == 0 then
		return
	end
	local time, interval, burst = now(), 1000000 / rate, math.max(1, quota.burst or 0)
	local due = tonumber(redis.call('HGET', tenantKey(tenant), 'due') or 0)
	if due > time + burst * interval then -- the rate was lower
		due = time
	end
	if due - (burst - 1) * interval > time then
		return due - (burst - 1) * interval
	end
	return nil, math.max(due, time) + interval
end
local function takeFrom(tenant, quota, due)
	local id = redis.call('ZPOPMIN', waiting(tenant))[1]
	local message, size = unpack(redis.call('HMGET', ARGV[3] .. (id or ''), 'msg', 'size'))
	local step = 1 / math.max(1, quota.weight or 0)
	if left(tenant, size or 0, step) then
		redis.call('ZINCRBY', base .. 'turns', step, tenant)
	end
	if due then
		redis.call('HSET', tenantKey(tenant), 'due', due)
	end
	if (quota.max_queued or 0) + (quota.max_queued_bytes or 0) > 0 then
		redis.call('HINCRBY', tenantKey(tenant), 'total', 1)
	end
	redis.call('HINCRBY', queue, 'total', 1)
	if not message then
		return
	end
	start(id)
	if (quota.concurrency or 0) == 0 then
		return {'task', message}
	end
	redis.call('SADD', running(tenant), id)
	return {'task', message, id, tenant}
end
local task = fromAsynq()
if task then
	return task
end
local held = redis.call('ZRANGE', base .. 'held', 0, 0, 'WITHSCORES')
if held[2] then
	local time = now()
	if tonumber(held[2]) <= time then
		lookAgain(time)
	end
end
for _ = 1, 100 do
	local head = redis.call('ZRANGE', base .. 'turns', 0, 0, 'WITHSCORES')
	if not head[1] then
		held = redis.call('ZRANGE', base .. 'held', 0, 0, 'WITHSCORES')
		return held[2] and {'wait', string.format('%.0f', (held[2] - now()) / 1000)} or {'none'}
	end
	local tenant, quota = head[1], limits(head[1])
	local again, due = blocked(tenant, quota)
	if again then
		rest(tenant, head[2])
		redis.call('ZADD', base .. 'held', again, tenant)
	else
		task = takeFrom(tenant, quota, due)
		if task then
			return task
		end
	end
end
return {'wait', '0'}
`)

// take runs takeScript with the keys and arguments of asynq's. The command is as asynq's would be, and when there is no task the
// duration is for how long there will be none; 0 if that is not known.
func (t *turns) take(ctx context.Context, rdb redis.Scripter, keys []string, args []any) (*redis.Cmd, time.Duration) {
	cmd := redis.NewCmd(ctx)
	reply, err := takeScript.Run(ctx, rdb, keys, append([]any{t.base}, args...)...).StringSlice()
	switch {
	case err != nil:
		cmd.SetErr(err)
	case reply[0] == "task":
		cmd.SetVal(reply[1])
		if len(reply) == 4 {
			t.bounded.Store(reply[2], reply[3])
		}
	case reply[0] == "wait":
		millis, _ := strconv.ParseInt(reply[1], 10, 64)
		return nothing(ctx), max(time.Duration(millis)*time.Millisecond, time.Millisecond)
	default:
		return nothing(ctx), 0
	}
	return cmd, 0
}

// vacateScript forgets that a task runs, and has its tenant looked at if that was held. ARGV: base, tenant, task, channel for workers.
var vacateScript = newTurnsScript(`
if redis.call('SREM', running(ARGV[2]), ARGV[3]) == 1 and redis.call('ZSCORE', base .. 'held', ARGV[2]) then
	redis.call('ZADD', base .. 'held', 0, ARGV[2])
	redis.call('PUBLISH', ARGV[4], '')
end
return 1
`)

// ended returns the tenant of a task that one of asynq's scripts has ended, if its concurrency is bounded.
func (t *turns) ended(keys []string, args []any) (task, tenant string, bounded bool) {
	if len(args) == 0 || !slices.Contains(keys[:min(2, len(keys))], t.active) {
		return "", "", false
	}
	task, _ = args[0].(string)
	held, bounded := t.bounded.LoadAndDelete(task)
	if !bounded {
		return "", "", false
	}
	tenant, _ = held.(string)
	return task, tenant, true
}

// vacate makes room for the next task of a tenant whose concurrency is bounded.
func (t *turns) vacate(ctx context.Context, rdb redis.Scripter, tenant, task string) *redis.Cmd {
	return vacateScript.Run(ctx, rdb, []string{t.base + "held"}, t.base, tenant, task, t.wake)
}
