package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Stats is how much there is to do and who does it.
type Stats struct {
	Queues  []QueueStats `json:"queues"`
	Workers []WorkerInfo `json:"workers"`
}

// QueueStats counts the jobs of a queue.
type QueueStats struct {
	Queue Queue `json:"queue"`
	// Pending wait for a slot, Running have one, Retry wait for another attempt. A job that was forwarded to the worker
	// that holds its session is not among them. What a killed worker ran is counted for 30 s more, by its lease.
	Pending int64 `json:"pending"`
	Running int64 `json:"running"`
	Retry   int64 `json:"retry"`
	// Bytes is the size of what waits for a slot, as it is stored; Tenants is how many that belongs to, and OldestSeconds for
	// how long the first of it has waited.
	Bytes         int64   `json:"bytes"`
	Tenants       int64   `json:"tenants"`
	OldestSeconds float64 `json:"oldest_seconds"`
	// Taken counts the jobs that got a slot since Redis has its data, each as often as it did.
	Taken int64 `json:"taken"`
	// Dead were given up after all attempts, and their results are still kept.
	Dead int64 `json:"dead"`
}

// Stats counts jobs and lists the workers that are alive, in two round trips.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	counts := map[Queue]*queueCounts{}
	var ids *redis.StringSliceCmd
	var now *redis.TimeCmd
	_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		ids, now = pipe.SMembers(ctx, c.store.keys.workers()), pipe.Time(ctx)
		for _, queue := range Queues() {
			counts[queue] = c.store.keys.count(ctx, pipe, queue)
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("read statistics: %w", err)
	}
	stats := Stats{Workers: []WorkerInfo{}}
	for _, queue := range Queues() {
		stats.Queues = append(stats.Queues, counts[queue].stats(queue, now.Val()))
	}
	stats.Workers, err = c.workers(ctx, ids.Val())
	return stats, err
}

// queueCounts are the replies from which the statistics of a queue are made.
type queueCounts struct {
	pending, active, retry, scheduled, dead, tenants *redis.IntCmd
	waiting                                          *redis.SliceCmd
	oldest                                           *redis.ZSliceCmd
}

func (k keys) count(ctx context.Context, pipe redis.Pipeliner, queue Queue) *queueCounts {
	name, base := k.asynqQueue(queue), k.turns(queue)
	return &queueCounts{
		pending: pipe.LLen(ctx, asynqKey(name, "pending")),
		active:  pipe.ZCount(ctx, asynqKey(name, "lease"), strconv.FormatInt(time.Now().Unix(), 10), "+inf"),
		retry:   pipe.ZCard(ctx, asynqKey(name, "retry")), scheduled: pipe.ZCard(ctx, asynqKey(name, "scheduled")),
		dead: pipe.ZCard(ctx, k.dead(queue)), tenants: pipe.ZCard(ctx, base+"heads"),
		waiting: pipe.HMGet(ctx, base+"queue", "jobs", "bytes", "total"), oldest: pipe.ZRangeWithScores(ctx, base+"heads", 0, 0),
	}
}

func (n *queueCounts) stats(queue Queue, now time.Time) QueueStats {
	var waiting [3]int64
	for i, field := range n.waiting.Val() {
		text, _ := field.(string)
		waiting[i] = int64(number(text))
	}
	stats := QueueStats{
		Queue: queue, Pending: n.pending.Val() + waiting[0], Running: n.active.Val(), Retry: n.retry.Val() + n.scheduled.Val(),
		Bytes: waiting[1], Tenants: n.tenants.Val(), Taken: waiting[2], Dead: n.dead.Val(),
	}
	for _, head := range n.oldest.Val() {
		stats.OldestSeconds = since(head.Score, now)
	}
	return stats
}

func (c *Client) workers(ctx context.Context, ids []string) ([]WorkerInfo, error) {
	beats := make([]*redis.StringCmd, len(ids))
	_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, id := range ids {
			beats[i] = pipe.Get(ctx, c.store.keys.worker(id))
		}
		return nil
	})
	if ignoreNil(err) != nil {
		return nil, fmt.Errorf("read workers: %w", err)
	}
	workers := []WorkerInfo{}
	for _, beat := range beats {
		value, err := beat.Bytes()
		if errors.Is(err, redis.Nil) {
			continue
		}
		var info WorkerInfo
		if err := json.Unmarshal(value, &info); err != nil {
			return nil, fmt.Errorf("read worker: %w", err)
		}
		workers = append(workers, info)
	}
	slices.SortFunc(workers, func(a, b WorkerInfo) int { return cmp.Compare(a.ID, b.ID) })
	return workers, nil
}

// WorkerAlive tells which of the workers with the given ids have a heartbeat.
func (c *Client) WorkerAlive(ctx context.Context, ids ...string) (map[string]bool, error) {
	return c.store.alive(ctx, ids...)
}
