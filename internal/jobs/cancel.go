package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// cancelScript ends a job that waits and marks one that runs. ARGV: canceled result, time,
// retention, channel for waiters. The reply is gone, done, queued or running and the owner.
var cancelScript = newScript(`
local state, owner, cancel = get('state', 'owner', 'cancel')
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
	return {'queued'}
end
return {'running', owner}
`)

// Cancel ends a job. One that waits is done at once, with the outcome canceled; one that
// runs is ended by its worker within about a second, sooner if the hint arrives; one that is
// done stays as it is. The Status is the one after. Canceling twice is as canceling once.
func (c *Client) Cancel(ctx context.Context, id string) (Status, error) {
	if err := checkID(id); err != nil {
		return Status{}, err
	}
	canceled := packResult(ourResult(sandbox.OutcomeCanceled, "the job was canceled before it started"))
	reply, err := c.store.run(ctx, cancelScript, id, canceled, formatTime(time.Now()),
		durationMillis(c.store.retention), c.store.keys.doneChannel(id))
	if err != nil {
		return Status{}, fmt.Errorf("cancel job %s: %w", id, err)
	}
	if reply[0] == "running" {
		if err := c.store.rdb.Publish(ctx, c.store.keys.cancelChannel(reply[1]), id).Err(); err != nil {
			c.store.log.DebugContext(ctx, "cancel hint not sent", "job", id, "error", err)
		}
	}
	return c.store.status(ctx, id)
}
