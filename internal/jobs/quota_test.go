package jobs

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuotasAreKept(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		quotas, err := b.client.Quotas(b.ctx)
		require.NoError(t, err)
		require.Empty(t, quotas)
		full := Quota{Weight: 3, Concurrency: 8, Rate: 0.5, Burst: 20, MaxQueued: 1000, MaxQueuedBytes: 1 << 30}
		b.setQuota("course-a", full)
		b.setQuota(OtherTenants, Quota{MaxQueued: 10})
		b.setQuota("gone", Quota{Weight: 2})
		require.NoError(t, b.client.RemoveQuota(b.ctx, "gone"))
		require.NoError(t, b.client.RemoveQuota(b.ctx, "never there"))
		quotas, err = b.client.Quotas(b.ctx)
		require.NoError(t, err)
		require.Equal(t, []TenantQuota{{"*", Quota{MaxQueued: 10}}, {"course-a", full}}, quotas)
		for _, queue := range Queues() { // a Cluster has each on another node
			encoded, err := b.rdb.HGet(b.ctx, "sandloop:{sandloop:"+string(queue)+"}:quotas", "course-a").Result()
			require.NoError(t, err)
			require.JSONEq(t, `{"weight":3,"concurrency":8,"rate":0.5,"burst":20,"max_queued":1000,"max_queued_bytes":1073741824}`, encoded)
		}
	})
}

func TestQuotaRefuses(t *testing.T) {
	t.Parallel()
	b := setupMini(t)
	for want, quota := range map[string]Quota{
		"weight: -1: want 0 to 1000":              {Weight: -1},
		"weight: 1001":                            {Weight: 1001},
		"concurrency: 100001: want 0 to 100000":   {Concurrency: 100_001},
		"rate: -1":                                {Rate: -1},
		"rate: NaN: want 0 or 1e-06 to 1e+06":     {Rate: math.NaN()},
		"rate: +Inf":                              {Rate: math.Inf(1)},
		"rate: 1e-07":                             {Rate: 1e-7},
		"burst: 5: want none without a rate":      {Burst: 5},
		"burst: -1: want 0 to 100000":             {Burst: -1, Rate: 1},
		"max_queued: -1":                          {MaxQueued: -1},
		"max_queued_bytes: 9007199254740993":      {MaxQueuedBytes: 1<<53 + 1},
		"weight: -1: want 0 to 1000\nconcurrency": {Weight: -1, Concurrency: -1},
	} {
		require.ErrorContains(t, b.client.SetQuota(b.ctx, "alice", quota), want)
	}
	require.ErrorContains(t, b.client.SetQuota(b.ctx, "a\n", Quota{}), "unprintable")
	require.ErrorContains(t, b.client.RemoveQuota(b.ctx, "a\n"), "unprintable")
	require.ErrorContains(t, b.client.SetDepth(b.ctx, "urgent", Depth{}), `"urgent" is unknown`)
	require.ErrorContains(t, b.client.SetDepth(b.ctx, Batch, Depth{MaxQueued: -1}), "set depth of queue batch: max_queued: -1")
	_, err := b.client.Tenants(b.ctx, "urgent")
	require.ErrorContains(t, err, `"urgent" is unknown`)
	quotas, err := b.client.Quotas(b.ctx)
	require.NoError(t, err)
	require.Empty(t, quotas)
}

func TestDepthsAreKept(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submit(job("1")) // what is counted is in the same place
		require.NoError(t, b.client.SetDepth(b.ctx, Batch, Depth{MaxQueued: 5, MaxQueuedBytes: 1 << 40}))
		require.NoError(t, b.client.SetDepth(b.ctx, Default, Depth{}))
		depths, err := b.client.Depths(b.ctx)
		require.NoError(t, err)
		require.Equal(t, []QueueDepth{
			{Interactive, Depth{MaxQueued: 1_000_000}}, {Default, Depth{}}, {Batch, Depth{MaxQueued: 5, MaxQueuedBytes: 1 << 40}},
		}, depths)
		require.EqualValues(t, 1, b.pending())
	})
}

func TestConcurrencyOfATenantIsBounded(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{Concurrency: 2})
		runner := newFakeRunner()
		w := b.start(runner)
		ids := b.submitMany("alice", 5)
		running := []*run{receive(t, runner.runs), receive(t, runner.runs)}
		bob := b.submit(of("bob", "bob"))
		r := receive(t, runner.runs)
		require.Equal(t, bob, r.program.ID, "the third job of alice has to wait, and bob's must not")
		r.succeed("")
		for range 3 {
			require.Empty(t, runner.runs)
			require.LessOrEqual(t, len(w.snapshot()), 3, "with bob's last")
			running[0].succeed("")
			running = append(running[1:], receive(t, runner.runs))
		}
		for _, r := range running {
			r.succeed("")
		}
		for _, id := range ids {
			require.Len(t, b.await(id).Attempts, 1)
		}
		eventually(t, func() bool {
			n, err := b.rdb.SCard(b.ctx, "sandloop:{sandloop:default}:running:alice").Result()
			return err == nil && n == 0
		}, "nothing runs")
	})
}

// Of every tenant without a quota of its own.
func TestConcurrencyOfOtherTenants(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota(OtherTenants, Quota{Concurrency: 1})
		b.setQuota("alice", Quota{Weight: 1})
		b.submitMany("alice", 2)
		b.submitMany("bob", 2)
		b.submitMany("carol", 2)
		require.Equal(t, "abca", b.taken(4))
		require.Empty(t, b.takeAt(Default, time.Now()))
	})
}

// A job that ends makes room at once, and not only when the tenant is looked at again.
func TestEndOfATaskMakesRoom(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{Concurrency: 1})
		ids := b.submitMany("alice", 3)
		task := b.takeAt(Default, time.Now())
		require.Equal(t, ids[0]+":1", task)
		none, pause := b.tryTake(Default, time.Now())
		require.Empty(t, none)
		require.Greater(t, pause, time.Duration(0))
		require.LessOrEqual(t, pause, time.Second)
		require.NoError(t, newTurns(b.client.store.keys, Default).vacate(b.ctx, b.rdb, "alice", task).Err())
		require.Equal(t, ids[1]+":1", b.takeAt(Default, time.Now()))

		ghost, _ := b.ghost(ids[1]) // and so does a worker that is lost
		require.Empty(t, b.takeAt(Default, time.Now()))
		require.NoError(t, ghost.recoverJob(b.ctx, ids[1]+":1", "ghost"))
		require.Equal(t, ids[1]+":2", b.takeAt(Default, time.Now()))
		require.Empty(t, b.takeAt(Default, time.Now()))
	})
}

// Whoever should have made room has died, and asynq has taken the lease away.
func TestTaskWithoutALeaseMakesRoom(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{Concurrency: 1})
		ids := b.submitMany("alice", 2)
		require.Equal(t, ids[0]+":1", b.takeAt(Default, time.Now()))
		require.Empty(t, b.takeAt(Default, time.Now()))
		require.NoError(t, b.rdb.ZRem(b.ctx, "asynq:{sandloop:default}:lease", ids[0]+":1").Err())
		eventually(t, func() bool { return b.takeAt(Default, time.Now()) == ids[1]+":1" }, "it is looked at again")
	})
}

// A failed try of ours waits for the next one, which needs room as any other.
func TestRetriesObeyTheConcurrency(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{Concurrency: 1})
		runner := newFakeRunner()
		b.start(runner)
		ids := b.submitMany("alice", 2)
		first := receive(t, runner.runs)
		require.Equal(t, ids[0], first.program.ID)
		first.answer <- answer{err: fmt.Errorf("no daemon")}
		second := receive(t, runner.runs)
		require.Equal(t, ids[1], second.program.ID, "while the first waits")
		eventually(t, func() bool {
			n, err := b.rdb.ZCard(b.ctx, "sandloop:{sandloop:default}:held").Result()
			return err == nil && n == 1
		}, "the retry is due and held")
		require.Empty(t, runner.runs)
		second.succeed("")
		again := receive(t, runner.runs)
		require.Equal(t, ids[0], again.program.ID)
		again.succeed("")
		require.Len(t, b.await(ids[0]).Attempts, 2)
	})
}

func TestRateOfATenantIsBounded(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{Rate: 0.01, Burst: 3})
		b.submitMany("alice", 5)
		require.Equal(t, "aaa", b.taken(3))
		none, pause := b.tryTake(Default, time.Now())
		require.Empty(t, none)
		require.Greater(t, pause, 30*time.Second, "one in 100 s, after the three at once")
		require.LessOrEqual(t, pause, 100*time.Second)
		b.submitMany("bob", 1)
		require.Equal(t, "b", b.taken(1))
		stats, err := b.client.Tenants(b.ctx, Default)
		require.NoError(t, err)
		require.Greater(t, time.Until(stats[0].HeldUntil), 20*time.Second)

		b.setQuota("alice", Quota{Rate: 1e6}) // who waits for the old rate does not go on waiting
		for range 2 {
			eventually(t, func() bool { return b.takeAt(Default, time.Now()) != "" }, "the next one")
		}
	})
}

func TestRateIsKeptByWorkers(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{Rate: 10})
		for range 2 {
			b.start(echoRunner{})
		}
		var last time.Time
		before := time.Now()
		for _, id := range b.submitMany("alice", 6) {
			if started := b.await(id).Attempts[0].Started; started.After(last) {
				last = started
			}
		}
		require.Greater(t, last.Sub(before), 499*time.Millisecond, "five pauses of 100 ms")
		eventually(t, func() bool { return b.consistent(Default) == 0 }, "nothing waits")
	})
}

func TestTenantsAreListed(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		none, err := b.client.Tenants(b.ctx, Batch)
		require.NoError(t, err)
		require.Empty(t, none)
		b.setQuota("alice", Quota{Weight: 4, Concurrency: 1})
		b.setQuota("idle", Quota{Concurrency: 5})
		b.submitMany("betty", 5)
		b.submitMany("alice", 3)
		require.Equal(t, "ab", b.taken(2))
		require.Equal(t, "b", b.taken(1), "alice has one that runs")
		stats, err := b.client.Tenants(b.ctx, Default)
		require.NoError(t, err)
		require.Len(t, stats, 3)
		require.Positive(t, stats[0].OldestSeconds)
		require.Positive(t, stats[0].Bytes)
		require.Equal(t, stats[0].Bytes/3, stats[1].Bytes/2, "all are of the same size")
		require.WithinDuration(t, time.Now(), stats[1].HeldUntil, bound)
		for i := range stats {
			stats[i].OldestSeconds, stats[i].Bytes, stats[i].HeldUntil = 0, 0, time.Time{}
		}
		one, zero := int64(1), int64(0)
		require.Equal(t, []TenantStats{
			{Tenant: "betty", Weight: 1, Waiting: 3}, {Tenant: "alice", Weight: 4, Waiting: 2, Running: &one}, {Tenant: "idle", Weight: 1, Running: &zero},
		}, stats)
	})
}
