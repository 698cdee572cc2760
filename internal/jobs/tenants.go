package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// TenantStats is what a tenant has in a queue.
type TenantStats struct {
	Tenant string `json:"tenant"`
	// Weight is the tenant's share of the turns.
	Weight int `json:"weight"`
	// Waiting counts its jobs that wait for their turn, Bytes is their size as they are stored, and OldestSeconds for how
	// long the first of them has waited.
	Waiting       int64   `json:"waiting"`
	Bytes         int64   `json:"bytes"`
	OldestSeconds float64 `json:"oldest_seconds"`
	// Running counts those that run; nil unless the tenant's concurrency is bounded.
	Running *int64 `json:"running,omitempty"`
	// HeldUntil is when the tenant is looked at again, if its quota lets nothing start now; a bound of its concurrency
	// may do so earlier.
	HeldUntil time.Time `json:"held_until,omitzero"`
}

// Tenants tells about the tenants that have something waiting in a queue, or a quota of their own: those with the most waiting
// jobs first.
func (c *Client) Tenants(ctx context.Context, queue Queue) ([]TenantStats, error) {
	queue, err := ParseQueue(string(queue))
	if err != nil {
		return nil, fmt.Errorf("read tenants: %w", err)
	}
	quotas, err := c.quotas(ctx, queue)
	if err != nil {
		return nil, err
	}
	base := c.store.keys.turns(queue)
	heads, err := c.store.rdb.ZRangeWithScores(ctx, base+"heads", 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("read tenants of queue %s: %w", queue, err)
	}
	now, err := c.store.rdb.Time(ctx).Result()
	if err != nil {
		return nil, fmt.Errorf("read tenants of queue %s: %w", queue, err)
	}
	stats := listTenants(quotas, heads, now)
	if err := c.fillTenants(ctx, base, stats); err != nil {
		return nil, fmt.Errorf("read tenants of queue %s: %w", queue, err)
	}
	slices.SortFunc(stats, func(a, b TenantStats) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(a.Tenant, b.Tenant))
	})
	return stats, nil
}

// listTenants makes the statistics of tenants from what is known before each of them is looked at.
func listTenants(quotas []TenantQuota, heads []redis.Z, now time.Time) []TenantStats {
	others, own := Quota{}, map[string]Quota{}
	for _, quota := range quotas {
		if quota.Tenant == OtherTenants {
			others = quota.Quota
			continue
		}
		own[quota.Tenant] = quota.Quota
	}
	stats := []TenantStats{}
	add := func(tenant string, quota Quota, oldest float64) {
		s := TenantStats{Tenant: tenant, Weight: max(1, quota.Weight), OldestSeconds: oldest}
		if quota.Concurrency > 0 {
			s.Running = new(int64)
		}
		stats = append(stats, s)
	}
	for _, head := range heads {
		tenant, _ := head.Member.(string)
		quota, has := own[tenant]
		if !has {
			quota = others
		}
		delete(own, tenant)
		add(tenant, quota, since(head.Score, now))
	}
	for tenant, quota := range own {
		add(tenant, quota, 0)
	}
	return stats
}

// tenantsChunk is how many tenants are read in one round trip.
const tenantsChunk = 500

// fillTenants reads what is counted for each tenant.
func (c *Client) fillTenants(ctx context.Context, base string, stats []TenantStats) error {
	for chunk := range slices.Chunk(stats, tenantsChunk) {
		waiting, running := make([]*redis.IntCmd, len(chunk)), make([]*redis.IntCmd, len(chunk))
		bytes, held := make([]*redis.StringCmd, len(chunk)), make([]*redis.FloatCmd, len(chunk))
		_, err := c.store.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i := range chunk {
				tenant := chunk[i].Tenant
				waiting[i], running[i] = pipe.ZCard(ctx, base+"waiting:"+tenant), pipe.SCard(ctx, base+"running:"+tenant)
				bytes[i], held[i] = pipe.HGet(ctx, base+"tenant:"+tenant, "bytes"), pipe.ZScore(ctx, base+"held", tenant)
			}
			return nil
		})
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		for i := range chunk {
			s := &chunk[i]
			s.Waiting, s.Bytes = waiting[i].Val(), int64(number(bytes[i].Val()))
			if s.Running != nil {
				*s.Running = running[i].Val()
			}
			if held[i].Val() > 0 { // 0 is now
				s.HeldUntil = time.UnixMicro(int64(held[i].Val())).UTC()
			}
		}
	}
	return nil
}

// since is how many seconds ago a place was given.
func since(place float64, now time.Time) float64 {
	return max(0, float64(now.UnixMicro())-place) / 1e6
}
