package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	// that holds its session is not among them.
	Pending int64 `json:"pending"`
	Running int64 `json:"running"`
	Retry   int64 `json:"retry"`
	// Dead were given up after all attempts, and their results are still kept.
	Dead int64 `json:"dead"`
}

// Stats counts jobs and lists the workers that are alive, in two round trips.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	counts := map[Queue][]*redis.IntCmd{}
	var ids *redis.StringSliceCmd
	_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		ids = pipe.SMembers(ctx, c.store.keys.workers())
		for _, queue := range Queues() {
			name := c.store.keys.asynqQueue(queue)
			counts[queue] = []*redis.IntCmd{
				pipe.LLen(ctx, asynqKey(name, "pending")), pipe.LLen(ctx, asynqKey(name, "active")),
				pipe.ZCard(ctx, asynqKey(name, "retry")), pipe.ZCard(ctx, asynqKey(name, "scheduled")),
				pipe.ZCard(ctx, c.store.keys.dead(queue)),
			}
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("read statistics: %w", err)
	}
	stats := Stats{Workers: []WorkerInfo{}}
	for _, queue := range Queues() {
		n := counts[queue]
		stats.Queues = append(stats.Queues, QueueStats{Queue: queue, Pending: n[0].Val(), Running: n[1].Val(), Retry: n[2].Val() + n[3].Val(), Dead: n[4].Val()})
	}
	stats.Workers, err = c.workers(ctx, ids.Val())
	return stats, err
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
