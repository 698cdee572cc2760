package jobs

import (
	"sync"

	"github.com/redis/go-redis/v9"
)

// The jobs that wait in a queue wait among those of their tenant, and tenants take turns: whoever submits much waits for
// himself. asynq has the tasks, as it wrote them; what waits is not in its list but in these keys, which start with
// keys.turns and lie in the slot of asynq's keys of the queue, so that one script can touch both:
//
//	waiting:<tenant>  sorted set of the tenant's tasks by place, which is the time in µs at which they came
//	running:<tenant>  set of the tasks that run, of a tenant whose concurrency is bounded
//	tenant:<tenant>   hash: bytes that wait; turn, the virtual time of the next one while it is not in turns; due, of the
//	                  rate (GCRA); and of a tenant who may be refused, how fast its jobs are taken: see pace
//	turns             tenants that have something waiting, by the virtual time of the next one
//	held              those of them that may start nothing now, by the time in µs at which to look again
//	heads             all of them, by the place of their first task
//	queue             hash: jobs and bytes that wait, total of those taken, how fast they are, clock while turns is empty, and the depth
//	quotas            hash: tenant, or * for all others, and the quota in JSON
//	refused:<task>    what the submission of a job was refused for, until nothing of it is left
//
// The turns are start-time fair queueing: a tenant's jobs are 1/weight of virtual time apart, the lowest is next and is what the
// clock shows, and whoever comes back starts by the clock at the earliest, so that nobody saves up turns.
// Times are those of Redis, because workers and producers, whose clocks differ, share them.
//
// Each script changes the counts together with the sets, so that they cannot drift. Its first write is one that a full Redis
// allows or nothing is changed yet: a script is not stopped later. ARGV[1] is what the keys start with.
const turnsPrelude = `
local base = ARGV[1]
local queue = base .. 'queue'
local function tenantKey(tenant)
	return base .. 'tenant:' .. tenant
end
local function waiting(tenant)
	return base .. 'waiting:' .. tenant
end
local function running(tenant)
	return base .. 'running:' .. tenant
end
local function limits(tenant)
	local own, others = unpack(redis.call('HMGET', base .. 'quotas', tenant, '*'))
	if own or others then
		return cjson.decode(own or others)
	end
	return {}
end
local function now()
	local time = redis.call('TIME')
	return time[1] * 1000000 + time[2]
end
-- clock returns the virtual time of whoever is next, or was last if nobody waits.
local function clock()
	local head = redis.call('ZRANGE', base .. 'turns', 0, 0, 'WITHSCORES')
	return tonumber(head[2] or redis.call('HGET', queue, 'clock') or 0)
end
-- rest takes a tenant out of the turns, which goes on with that one when it comes back.
local function rest(tenant, turn)
	local last = redis.call('ZSCORE', base .. 'turns', tenant)
	if redis.call('ZREM', base .. 'turns', tenant) == 1 and redis.call('EXISTS', base .. 'turns') == 0 then
		redis.call('HSET', queue, 'clock', last)
	end
	redis.call('HSET', tenantKey(tenant), 'turn', turn)
end
-- mark begins anew with counting how fast jobs are taken: what did not wait was not slow.
local function mark(key, time)
	redis.call('HSET', key, 'since', time, 'seen', redis.call('HGET', key, 'total') or 0)
end
-- joined counts tasks of a tenant that wait from now on, the first of them at place: head tells that it goes before the tenant's others, and
-- first that there are none.
local function joined(tenant, jobs, bytes, place, first, head, bounded)
	if first then
		local turn = tonumber(redis.call('HGET', tenantKey(tenant), 'turn') or 0)
		redis.call('ZADD', base .. 'turns', math.max(turn, clock()), tenant)
		redis.call('PERSIST', tenantKey(tenant))
		if bounded then
			mark(tenantKey(tenant), now())
		end
	end
	if first or head then
		redis.call('ZADD', base .. 'heads', place, tenant)
	end
	redis.call('HINCRBY', tenantKey(tenant), 'bytes', bytes)
	redis.call('HINCRBY', queue, 'bytes', bytes)
	if redis.call('HINCRBY', queue, 'jobs', jobs) == jobs then
		mark(queue, now())
	end
end
-- putFirst lets a task wait as the next one of its tenant.
local function putFirst(tenant, id, size, bounded)
	local time = now()
	local head = redis.call('ZRANGE', waiting(tenant), 0, 0, 'WITHSCORES')
	local place = math.min(time, head[2] and head[2] - 1 or time)
	if redis.call('ZADD', waiting(tenant), place, id) == 1 then
		joined(tenant, 1, size, place, not head[2], true, bounded)
	end
end
-- left counts a task that waits no more. If it was the last of its tenant, that rests and goes on with the turn after step.
local function left(tenant, size, step)
	local bytes = redis.call('HINCRBY', tenantKey(tenant), 'bytes', 0 - size)
	redis.call('HINCRBY', queue, 'bytes', 0 - size)
	redis.call('HINCRBY', queue, 'jobs', -1)
	local head = redis.call('ZRANGE', waiting(tenant), 0, 0, 'WITHSCORES')
	if head[2] then
		redis.call('ZADD', base .. 'heads', head[2], tenant)
		return true
	end
	local turn = redis.call('ZSCORE', base .. 'turns', tenant)
	if turn then
		rest(tenant, turn + step)
	end
	redis.call('ZREM', base .. 'held', tenant)
	redis.call('ZREM', base .. 'heads', tenant)
	if bytes ~= 0 then -- of tasks that somebody else has deleted
		redis.call('HSET', tenantKey(tenant), 'bytes', 0)
		redis.call('HINCRBY', queue, 'bytes', 0 - bytes)
	end
	redis.call('PEXPIRE', tenantKey(tenant), 600000)
	return false
end
`

func newTurnsScript(source string) *redis.Script { return redis.NewScript(turnsPrelude + source) }

// turns is what a worker has for taking turns in one queue.
type turns struct {
	base   string // what our keys start with
	active string // asynq's list of tasks that are under way
	wake   string // the channel that tells workers that the queue has something
	tasks  string // what the keys of asynq's tasks start with
	// bounded are the tasks under way here whose tenant's concurrency is bounded: tenant by task.
	bounded sync.Map
}

func newTurns(k keys, queue Queue) *turns {
	name := k.asynqQueue(queue)
	return &turns{base: k.turns(queue), active: asynqKey(name, "active"), wake: k.wakeChannel(queue), tasks: asynqKey(name, "t:")}
}
