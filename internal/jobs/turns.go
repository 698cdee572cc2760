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
//	tenant:<tenant>   hash: bytes that wait; turn, the virtual time of the next one; due, of the rate (GCRA); and how
//	                  fast its jobs are taken: taken since then, and the rate before that
//	turns             tenants that have something waiting, by turn
//	held              those of them that may start nothing now, by the time in µs at which to look again
//	heads             all of them, by the place of their first task
//	queue             hash: jobs and bytes that wait, clock (virtual time), last place, how fast they are taken, in total, and the depth
//	quotas            hash: tenant, or * for all others, and the quota in JSON
//	refused:<task>    what the submission of a job was refused for, until nothing of it is left
//
// The turns are start-time fair queueing: a tenant's jobs are 1/weight of virtual time apart, the lowest is next and sets
// the clock, and whoever comes back starts at the clock at the earliest, so that nobody saves up turns.
// Times are those of Redis, because workers and producers, whose clocks differ, share them.
//
// Each script changes the counts together with the sets, so that they cannot drift. ARGV[1] is what the keys start with.
const turnsPrelude = `
local base = ARGV[1]
local queueFields = {'jobs', 'bytes', 'clock', 'last', 'since', 'taken', 'rate', 'total'}
local tenantFields = {'bytes', 'turn', 'due', 'since', 'taken', 'rate'}
local window = 10
local function now()
	local time = redis.call('TIME')
	return tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local function read(key, names)
	local values, record = redis.call('HMGET', key, unpack(names)), {}
	for i, name in ipairs(names) do
		record[name] = tonumber(values[i] or 0)
	end
	return record
end
local function write(key, names, record)
	local fields = {}
	for _, name in ipairs(names) do
		table.insert(fields, name)
		table.insert(fields, record[name])
	end
	redis.call('HSET', key, unpack(fields))
end
local function integer(number)
	return string.format('%.0f', number)
end
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
local function first(tenant)
	local head = redis.call('ZRANGE', waiting(tenant), 0, 0, 'WITHSCORES')
	return head[2] and tonumber(head[2])
end
-- put lets a task wait: as the next one of its tenant, or as the last.
local function put(queue, tenant, id, size, next, time)
	local key, t, head, place = tenantKey(tenant), read(tenantKey(tenant), tenantFields), first(tenant), time
	if not next then
		queue.last = math.max(queue.last + 1, time)
		place = queue.last
	elseif head then
		place = math.min(head - 1, time)
	end
	if redis.call('ZADD', waiting(tenant), place, id) == 0 then
		return
	end
	if not head then
		t.turn = math.max(t.turn, queue.clock)
		t.since, t.taken = time, 0
		redis.call('ZADD', base .. 'turns', t.turn, tenant)
		redis.call('PERSIST', key)
	end
	if not head or place < head then
		redis.call('ZADD', base .. 'heads', place, tenant)
	end
	if queue.jobs == 0 then
		queue.since, queue.taken = time, 0
	end
	queue.jobs, queue.bytes, t.bytes = queue.jobs + 1, queue.bytes + size, t.bytes + size
	write(key, tenantFields, t)
end
-- left counts a task that waits no more, and reports whether the tenant has another one.
local function left(queue, tenant, t, size)
	local key, head = tenantKey(tenant), first(tenant)
	queue.jobs, queue.bytes, t.bytes = queue.jobs - 1, queue.bytes - size, t.bytes - size
	if head then
		redis.call('ZADD', base .. 'heads', head, tenant)
		write(key, tenantFields, t)
		return true
	end
	for _, set in ipairs({'turns', 'held', 'heads'}) do
		redis.call('ZREM', base .. set, tenant)
	end
	queue.bytes, t.bytes = queue.bytes - t.bytes, 0
	write(key, tenantFields, t)
	redis.call('PEXPIRE', key, 600000)
	if redis.call('EXISTS', base .. 'heads') == 0 then
		queue.jobs, queue.bytes = 0, 0
	end
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
