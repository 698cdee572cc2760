package jobs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// QuotaError means that a job was not accepted because enough waits already. Nothing of the job is left, and the same
// submission may be repeated.
type QuotaError struct {
	// Tenant is whose job it was.
	Tenant string
	Queue  Queue
	// WholeQueue tells that the bound is that of the queue, whoever the jobs are from, and not the tenant's.
	WholeQueue bool
	// Limit is the bound: max_queued for jobs or max_queued_bytes.
	Limit string
	// Max is what may wait, and Used what does.
	Max, Used int64
	// Size is that of the job, in bytes as it is stored.
	Size int64
	// RetryAfter is when there will be room, by how fast jobs were taken of late: 1 s to 5 min, and at first 3 s if none was. It is
	// 0 if the job is so large that there will be none.
	RetryAfter time.Duration
}

// Error says who has how much waiting, and when to try again.
func (e *QuotaError) Error() string {
	who := fmt.Sprintf("tenant %q has", e.Tenant)
	switch {
	case e.WholeQueue:
		who = "all tenants have"
	case e.Tenant == "":
		who = "jobs without a tenant have"
	}
	unit, size := "jobs", ""
	switch {
	case e.Limit == limitBytes:
		unit, size = "bytes", fmt.Sprintf(" and this job has %d", e.Size)
	case e.Used == 1:
		unit = "job"
	}
	advice := "try again in " + e.RetryAfter.String()
	if e.RetryAfter == 0 {
		advice = "it will never fit"
	}
	return fmt.Sprintf("queue %s is full: %s %d %s waiting%s: want at most %d (%s): %s", e.Queue, who, e.Used, unit, size, e.Max, e.Limit, advice)
}

// parseRefusal reads the reply of admitScript.
func parseRefusal(reply []any, queue Queue, tenant string, size int) *QuotaError {
	number := func(word any) int64 { n, _ := strconv.ParseInt(fmt.Sprint(word), 10, 64); return n }
	return &QuotaError{
		Tenant: tenant, Queue: queue, WholeQueue: reply[1] == "queue", Limit: fmt.Sprint(reply[2]), Max: number(reply[3]), Used: number(reply[4]),
		Size: int64(size), RetryAfter: time.Duration(number(reply[5])) * time.Millisecond,
	}
}

const (
	// refusalMark is how long a refusal is remembered, so that nobody else who hands in the same job has it accepted while
	// what is left of it is deleted.
	refusalMark = time.Minute
	// discardTime bounds that, from before the refusal.
	discardTime = refusalMark / 2
)

// discardScript deletes a job that was refused, if it is still the one of this submission. ARGV: token. The reply is its state, or gone.
var discardScript = newScript(`
local state, submission, dispatch, attempt = get('state', 'submission', 'dispatch', 'attempt')
if state == 'queued' and submission == ARGV[1] and dispatch == '1' and attempt == '0' then
	redis.call('DEL', KEYS[1], KEYS[2])
	return {'gone'}
end
return {state or 'gone'}
`)

// discard deletes what is left of refused jobs. Whatever stays expires, and a repeated submission goes on with it.
func (c *Client) discard(ctx context.Context, refused []*pendingJob, deadline time.Time) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	for start := 0; start < len(refused); start += submitChunk {
		chunk := refused[start:min(start+submitChunk, len(refused))]
		_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, p := range chunk {
				discardScript.Eval(ctx, pipe, c.store.keys.job(p.ref.ID), p.token)
			}
			return nil
		})
		if err != nil {
			c.store.log.WarnContext(ctx, "refused jobs not deleted", "jobs", len(chunk), "error", err)
		}
	}
}
