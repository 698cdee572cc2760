package jobs

import (
	"context"
	"fmt"
	"time"
)

// cancelScript ends a job that waits and marks one that runs. ARGV: canceled result, time,
// retention, channel for waiters, what the owner's channel for hints starts with, id. The reply is gone; done; queued, the dispatch, queue and tenant; or running.
var cancelScript = newScript(`
local state, owner, cancel, dispatch, queue, tenant = get('state', 'owner', 'cancel', 'dispatch', 'queue', 'tenant')
if not state then
	return {'gone'}
end
if state == 'done' then
	return {'done'}
end
if not cancel then
	redis.call('HSET', KEYS[1], 'cancel', ARGV[2])
end
if state == 'queued' then
	finish(ARGV[1], 'canceled', ARGV[2], ARGV[3], ARGV[4])
	return {'queued', dispatch, queue, tenant}
end
redis.call('PUBLISH', ARGV[5] .. owner, ARGV[6])
return {'running'}
`)

// Cancel ends a job. One that waits is done at once, with the outcome canceled; one that
// runs is ended by its worker at once, or within about a second if the hint was lost; one that is
// done stays as it is. The Status is the one after. Canceling twice is as canceling once.
func (c *Client) Cancel(ctx context.Context, id string) (Status, error) {
	if err := checkID(id); err != nil {
		return Status{}, err
	}
	reply, err := c.store.run(ctx, cancelScript, id, c.store.canceledEnding(id), formatTime(time.Now()),
		durationMillis(c.store.retention), c.store.keys.doneChannel(id), c.store.keys.cancelChannel(""), id)
	if err != nil {
		return Status{}, fmt.Errorf("cancel job %s: %w", id, err)
	}
	if reply[0] == "queued" {
		if err := c.store.withdraw(ctx, Queue(reply[2]), reply[3], ref{ID: id}.renewed(reply[1])); err != nil { // its task will end at once
			c.store.log.DebugContext(ctx, "task of canceled job not removed", "job", id, "error", err)
		}
	}
	return c.store.status(ctx, id)
}

// withdrawScript removes a task that waits among its tenant's. KEYS: asynq's task. ARGV: base, tenant, task. The reply is 1 if it was there.
var withdrawScript = newTurnsScript(`
if redis.call('ZREM', waiting(ARGV[2]), ARGV[3]) == 0 then
	return 0
end
local size = redis.call('HGET', KEYS[1], 'size') or 0
redis.call('DEL', KEYS[1])
left(ARGV[2], size, 0)
return 1
`)

// withdraw makes the place free of a job that waits no more. One that does not wait among its tenant's stays where it is.
func (s *store) withdraw(ctx context.Context, queue Queue, tenant string, r ref) error {
	t := newTurns(s.keys, queue)
	return withdrawScript.Run(ctx, s.rdb, []string{t.tasks + r.String()}, t.base, tenant, r.String()).Err()
}
