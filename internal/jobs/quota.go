package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// OtherTenants names, where a quota is set, every tenant that has none of its own.
const OtherTenants = "*"

// Quota bounds what a tenant has in each queue: one of 100 waiting jobs is 100 in every queue. 0 is no bound.
type Quota struct {
	// Weight is the tenant's share of the turns while others wait too, 1 when 0.
	Weight int `json:"weight,omitempty"`
	// Concurrency is how many of the tenant's jobs run at once. Those that run already when it is set do not count.
	Concurrency int `json:"concurrency,omitempty"`
	// Rate is how many of the tenant's jobs start in a second, tries after a failure of ours among them.
	Rate float64 `json:"rate,omitempty"`
	// Burst is how many of them may start at once after a pause, 1 when 0.
	Burst int `json:"burst,omitempty"`
	// MaxQueued and MaxQueuedBytes are how many jobs wait, and how large they are together as they are stored, which is
	// compressed. A job that was accepted is not counted while it runs or waits for another try, and is never refused again.
	MaxQueued      int64 `json:"max_queued,omitempty"`
	MaxQueuedBytes int64 `json:"max_queued_bytes,omitempty"`
}

// TenantQuota is the quota of a tenant, or of OtherTenants.
type TenantQuota struct {
	Tenant string `json:"tenant"`
	Quota
}

// Depth bounds what waits in a queue, whoever it is from. 0 is no bound.
type Depth struct {
	// MaxQueued is 1,000,000 jobs unless it was set.
	MaxQueued int64 `json:"max_queued"`
	// MaxQueuedBytes is of the jobs as they are stored.
	MaxQueuedBytes int64 `json:"max_queued_bytes"`
}

// QueueDepth is the depth of a queue.
type QueueDepth struct {
	Queue Queue `json:"queue"`
	Depth
}

// The bounds, as in QuotaError.Limit and in the fields of the queue's hash.
const (
	limitJobs  = "max_queued"
	limitBytes = "max_queued_bytes"
)

const (
	// maxBound is the largest bound: every whole number up to it is exact in a script.
	maxBound = 1 << 53
	// maxWeight is the largest weight, and maxConcurrency what a script looks through in a few milliseconds.
	maxWeight      = 1000
	maxConcurrency = 100_000
	// minRate is a start in about a month, and maxRate one in a microsecond.
	minRate, maxRate = 1e-6, 1e6
)

// Validate checks that the quota can be kept. The error joins one sentence for each field that is wrong.
func (q Quota) Validate() error {
	var errs []error
	whole := func(field string, value, most int64) {
		if value < 0 || value > most {
			errs = append(errs, fmt.Errorf("%s: %d: want 0 to %d", field, value, most))
		}
	}
	whole("weight", int64(q.Weight), maxWeight)
	whole("concurrency", int64(q.Concurrency), maxConcurrency)
	whole("burst", int64(q.Burst), maxConcurrency)
	whole(limitJobs, q.MaxQueued, maxBound)
	whole(limitBytes, q.MaxQueuedBytes, maxBound)
	if q.Rate != 0 && !(q.Rate >= minRate && q.Rate <= maxRate) { // NaN is neither
		errs = append(errs, fmt.Errorf("rate: %v: want 0 or %v to %v a second", q.Rate, minRate, maxRate))
	}
	if q.Burst > 0 && q.Rate == 0 {
		errs = append(errs, fmt.Errorf("burst: %d: want none without a rate", q.Burst))
	}
	return errors.Join(errs...)
}

// Validate checks that the depth can be kept, as Quota.Validate does.
func (d Depth) Validate() error {
	return Quota{MaxQueued: d.MaxQueued, MaxQueuedBytes: d.MaxQueuedBytes}.Validate()
}

// setQuotaScript sets a quota, or removes it if there is none in JSON, and has whoever is held looked at. KEYS: quotas. ARGV: base,
// tenant, JSON, channel for workers.
var setQuotaScript = newTurnsScript(`
if ARGV[3] == '' then
	redis.call('HDEL', KEYS[1], ARGV[2])
else
	redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
end
for _, tenant in ipairs(redis.call('ZRANGE', base .. 'held', 0, -1)) do
	redis.call('ZADD', base .. 'held', 0, tenant)
end
redis.call('PUBLISH', ARGV[4], '')
return 1
`)

// SetQuota bounds a tenant, or OtherTenants, from now on and for all workers and producers. Of what waits already nothing is
// refused. After an error the quota may be set for some queues only; setting it again is safe.
func (c *Client) SetQuota(ctx context.Context, tenant string, quota Quota) error {
	if err := quota.Validate(); err != nil {
		return fmt.Errorf("set quota of tenant %q: %w", tenant, err)
	}
	encoded, err := json.Marshal(quota)
	if err != nil {
		return fmt.Errorf("set quota of tenant %q: %w", tenant, err)
	}
	return c.writeQuota(ctx, "set", tenant, string(encoded))
}

// RemoveQuota removes what SetQuota set. Removing what was not set is success.
func (c *Client) RemoveQuota(ctx context.Context, tenant string) error {
	return c.writeQuota(ctx, "remove", tenant, "")
}

// writeQuota writes the same into the slot of each queue.
func (c *Client) writeQuota(ctx context.Context, verb, tenant, encoded string) error {
	if err := checkLabel("tenant", tenant, maxTenantBytes); err != nil {
		return fmt.Errorf("%s quota: %w", verb, err)
	}
	for _, queue := range Queues() {
		t := newTurns(c.store.keys, queue)
		if err := setQuotaScript.Run(ctx, c.store.rdb, []string{t.base + "quotas"}, t.base, tenant, encoded, t.wake).Err(); err != nil {
			return fmt.Errorf("%s quota of tenant %q in queue %s: %w", verb, tenant, queue, err)
		}
	}
	return nil
}

// Quotas lists the quotas that are set, by tenant.
func (c *Client) Quotas(ctx context.Context) ([]TenantQuota, error) {
	queues := Queues()
	return c.quotas(ctx, queues[len(queues)-1]) // which is written last
}

func (c *Client) quotas(ctx context.Context, queue Queue) ([]TenantQuota, error) {
	fields, err := c.store.rdb.HGetAll(ctx, c.store.keys.turns(queue)+"quotas").Result()
	if err != nil {
		return nil, fmt.Errorf("read quotas: %w", err)
	}
	quotas := make([]TenantQuota, 0, len(fields))
	for tenant, encoded := range fields {
		quota := TenantQuota{Tenant: tenant}
		if err := json.Unmarshal([]byte(encoded), &quota.Quota); err != nil {
			return nil, fmt.Errorf("read quota of tenant %q: %w", tenant, err)
		}
		quotas = append(quotas, quota)
	}
	slices.SortFunc(quotas, func(a, b TenantQuota) int { return cmp.Compare(a.Tenant, b.Tenant) })
	return quotas, nil
}

// SetDepth bounds a queue from now on. Of what waits already nothing is refused.
func (c *Client) SetDepth(ctx context.Context, queue Queue, depth Depth) error {
	queue, err := ParseQueue(string(queue))
	if err != nil {
		return fmt.Errorf("set depth: %w", err)
	}
	if err := depth.Validate(); err != nil {
		return fmt.Errorf("set depth of queue %s: %w", queue, err)
	}
	err = c.store.rdb.HSet(ctx, c.store.keys.turns(queue)+"queue", limitJobs, depth.MaxQueued, limitBytes, depth.MaxQueuedBytes).Err()
	if err != nil {
		return fmt.Errorf("set depth of queue %s: %w", queue, err)
	}
	return nil
}

// Depths tells the depth of each queue.
func (c *Client) Depths(ctx context.Context) ([]QueueDepth, error) {
	var fields []*redis.SliceCmd
	_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, queue := range Queues() {
			fields = append(fields, pipe.HMGet(ctx, c.store.keys.turns(queue)+"queue", limitJobs, limitBytes))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read depths: %w", err)
	}
	depths := make([]QueueDepth, 0, len(fields))
	for i, queue := range Queues() {
		depth := Depth{MaxQueued: defaultDepth}
		if jobs, set := fields[i].Val()[0].(string); set {
			depth.MaxQueued, _ = strconv.ParseInt(jobs, 10, 64)
		}
		if bytes, set := fields[i].Val()[1].(string); set {
			depth.MaxQueuedBytes, _ = strconv.ParseInt(bytes, 10, 64)
		}
		depths = append(depths, QueueDepth{Queue: queue, Depth: depth})
	}
	return depths, nil
}

// number reads what a script has written: whole numbers and others.
func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) {
		return 0
	}
	return n
}
