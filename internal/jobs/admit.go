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

	key  string // of asynq's task
	args []any  // of asynq's script: message, id and time
	cmd  *redis.Cmd
}

type admissionKey struct{}

// admitScript stands in for asynq's script that enqueues a task, for many at once. It writes each task as that does, but has it wait among
// its tenant's, if there is room. KEYS: those of the tasks. ARGV: base, depth if none was set, for how many ms a refusal is remembered,
// and for each task its message, id, time in ns, tenant, size and mode. The reply has for each task exists; admitted; or refused, whose bound it
// was, which one, the bound, what is used of it, and after how many ms to try again.
var admitScript = newTurnsScript(`
local depth, remembered = ARGV[2], ARGV[3]
local function bounds(values, most)
	return {jobs = tonumber(values[1] or 0), bytes = tonumber(values[2] or 0), most = tonumber(values[3] or most), mostBytes = tonumber(values[4] or 0)}
end
local whole = bounds(redis.call('HMGET', queue, 'jobs', 'bytes', 'max_queued', 'max_queued_bytes'), depth)
local tenants = {}
-- known returns what a tenant has waiting and may have.
local function known(tenant)
	if not tenants[tenant] then
		local quota = limits(tenant)
		local jobs = redis.call('ZCARD', waiting(tenant))
		tenants[tenant] = bounds({jobs, redis.call('HGET', tenantKey(tenant), 'bytes'), quota.max_queued, quota.max_queued_bytes}, 0)
		tenants[tenant].bounded = tenants[tenant].most + tenants[tenant].mostBytes > 0
		tenants[tenant].new, tenants[tenant].newBytes = 0, 0
	end
	return tenants[tenant]
end
-- count counts together the tasks of a tenant that this script has let wait.
local function count(tenant, of)
	if of.new > 0 then
		joined(tenant, of.new, of.newBytes, of.place, of.jobs == of.new, false, of.bounded)
		of.new, of.newBytes = 0, 0
	end
end
local function countAll()
	for tenant, of in pairs(tenants) do
		count(tenant, of)
	end
end
-- pace returns how many jobs a second were taken of late, of those that total counts, and for how long it looked. It looks back
-- 10 s or to when there was nothing to take.
local function pace(key)
	countAll()
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
local function check(who, key, jobs, bytes, size, most, mostBytes)
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
local place = now()
local function admit(key, message, id, time, tenant, size, mode)
	if redis.call('EXISTS', key) == 1 then
		return {'exists'}
	end
	local memo, of = base .. 'refused:' .. id, known(tenant)
	if mode == 'again' then
		local before = redis.call('GET', memo)
		if before then
			return cjson.decode(before)
		end
	end
	if mode ~= 'forced' then
		local refusal = check('tenant', tenantKey(tenant), of.jobs, of.bytes, size, of.most, of.mostBytes) or
			check('queue', queue, whole.jobs, whole.bytes, size, whole.most, whole.mostBytes)
		if refusal then
			redis.call('SET', memo, cjson.encode(refusal), 'PX', remembered)
			return refusal
		end
	end
	redis.call('HSET', key, 'msg', message, 'state', 'pending', 'pending_since', time, 'tenant', tenant, 'size', size)
	if mode == 'forced' then
		count(tenant, of)
		putFirst(tenant, id, size, of.bounded)
	elseif redis.call('ZADD', waiting(tenant), place, id) == 1 then
		if of.new == 0 then
			of.place = place
		end
		place, of.new, of.newBytes = place + 1, of.new + 1, of.newBytes + size
	else
		return {'admitted'}
	end
	for _, counted in ipairs({of, whole}) do
		counted.jobs, counted.bytes = counted.jobs + 1, counted.bytes + size
	end
	return {'admitted'}
end
local replies = {}
for i, key in ipairs(KEYS) do
	local task = 6 * i - 2
	replies[i] = admit(key, ARGV[task], ARGV[task + 1], ARGV[task + 2], ARGV[task + 3], tonumber(ARGV[task + 4]), ARGV[task + 5])
end
countAll()
return replies
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
	a, ok := ctx.Value(admissionKey{}).(*admission)
	switch {
	case !ok:
		return c.UniversalClient.EvalSha(ctx, sha, keys, args...)
	case strings.HasSuffix(keys[1], ":scheduled"):
		return scheduleScript.Run(ctx, c.UniversalClient, keys, append(args, a.tenant, a.size)...)
	}
	a.key, a.args, a.cmd = keys[0], args, redis.NewCmd(ctx)
	if together, ok := c.UniversalClient.(*coalescing); ok {
		together.admit(a)
	} else {
		admitTogether(ctx, c.UniversalClient, []*admission{a})
	}
	return a.cmd
}

// admitTogether does for tasks of one queue what asynq's script would have done with their keys and arguments.
func admitTogether(ctx context.Context, rdb redis.Scripter, tasks []*admission) {
	keys := make([]string, len(tasks))
	args := append(make([]any, 0, 3+6*len(tasks)), tasks[0].base, defaultDepth, refusalMark.Milliseconds())
	for i, a := range tasks {
		keys[i] = a.key
		args = append(append(args, a.args...), a.tenant, a.size, a.mode)
	}
	replies, err := admitScript.Run(ctx, rdb, keys, args...).Slice()
	for i, a := range tasks {
		if err != nil {
			a.cmd.SetErr(err)
			continue
		}
		a.cmd.SetVal(a.read(replies[i]))
	}
}

// read understands a task's reply of admitScript, and returns that of asynq's script: 0 if the task exists.
func (a *admission) read(reply any) int64 {
	words, _ := reply.([]any)
	switch words[0] {
	case "exists":
		return 0
	case "refused":
		a.refusal = parseRefusal(words, a.queue, a.tenant, a.size)
	}
	return 1
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
