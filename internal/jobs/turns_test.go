package jobs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// of is a valid job of a tenant.
func of(tenant, source string) Job {
	j := job(source)
	j.Tenant = tenant
	return j
}

// takeAt takes a task in the way of a worker that dies then, and returns it; "" if there is none. The lease is as if it had been
// taken at that time.
func (b *bundle) takeAt(queue Queue, when time.Time) string {
	b.t.Helper()
	task, _ := b.tryTake(queue, when)
	return task
}

// tryTake is takeAt that also tells after what time there may be one.
func (b *bundle) tryTake(queue Queue, when time.Time) (string, time.Duration) {
	b.t.Helper()
	name := b.client.store.keys.asynqQueue(queue)
	keys := []string{asynqKey(name, "pending"), asynqKey(name, "paused"), asynqKey(name, "active"), asynqKey(name, "lease")}
	cmd, pause := newTurns(b.client.store.keys, queue).take(b.ctx, b.rdb, keys, []any{when.Add(leaseDuration).Unix(), asynqKey(name, "t:")})
	if cmd.Err() == redis.Nil { //nolint:errorlint // the value itself
		return "", pause
	}
	require.NoError(b.t, cmd.Err())
	task, err := b.rdb.LIndex(b.ctx, keys[2], 0).Result()
	require.NoError(b.t, err)
	return task, 0
}

// taken takes a number of tasks of the default queue and returns the first letters of their tenants.
func (b *bundle) taken(count int) string {
	b.t.Helper()
	var order strings.Builder
	for range count {
		task := b.takeAt(Default, time.Now())
		require.NotEmpty(b.t, task)
		tenant, err := b.rdb.HGet(b.ctx, "asynq:{sandloop:default}:t:"+task, "tenant").Result()
		require.NoError(b.t, err)
		order.WriteByte(tenant[0])
	}
	return order.String()
}

// submitMany submits jobs of a tenant. Their order in the queue is that of the ids if there are few.
func (b *bundle) submitMany(tenant string, count int) []string {
	b.t.Helper()
	many, few := make([]Job, count), []string{}
	for i := range many {
		many[i] = of(tenant, fmt.Sprint(i))
		if count <= 20 {
			few = append(few, b.submit(many[i]))
		}
	}
	if count <= 20 {
		return few
	}
	submissions, err := b.client.SubmitMany(b.ctx, many)
	require.NoError(b.t, err)
	ids := make([]string, count)
	for i, submission := range submissions {
		ids[i] = submission.ID
	}
	return ids
}

func (b *bundle) setQuota(tenant string, quota Quota) {
	b.t.Helper()
	require.NoError(b.t, b.client.SetQuota(b.ctx, tenant, quota))
}

func TestTenantsTakeTurns(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submitMany("alice", 6)
		b.submitMany("bob", 3)
		require.Equal(t, "abababaaa", b.taken(9))
		require.Empty(t, b.takeAt(Default, time.Now()))
	})
}

func TestTurnsAreWeighted(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("bob", Quota{Weight: 2})
		b.submitMany("alice", 6)
		b.submitMany("bob", 4)
		// alice's are due at 0, 1, 2 and so on, bob's at 0, 1/2, 1 and 3/2.
		require.Equal(t, "abbabbaaaa", b.taken(10))
	})
}

// Whoever comes late is next, but has not saved up the turns of the time before.
func TestALatecomerStartsNow(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submitMany("alice", 10)
		require.Equal(t, "aaaaa", b.taken(5)) // at 0 to 4
		b.submitMany("bob", 3)
		require.Equal(t, "ababab"+"aa", b.taken(8)) // bob's at 5 to 7, alice's at 5 to 9
	})
}

// A tenant that hands in one job after the other is new each time, and must not be first each time.
func TestOneJobAtATimeDoesNotOvertake(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submitMany("zoe", 10)
		order := ""
		for range 6 {
			if !strings.HasSuffix(order, "z") {
				b.submitMany("aaron", 1)
			}
			order += b.taken(1)
		}
		require.Equal(t, "azazaz", order)
	})
}

// The tenants of one queue have nothing to do with another.
func TestEachQueueHasItsOwnTurns(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		for _, queue := range Queues() {
			j := of("alice", "1")
			j.Queue = queue
			b.submit(j)
		}
		for _, queue := range Queues() {
			require.NotEmpty(t, b.takeAt(queue, time.Now()))
			require.Empty(t, b.takeAt(queue, time.Now()))
		}
	})
}

func TestOddNamesOfTenants(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		names := []string{"", "*", "a:b", "}{", "ä ö", strings.Repeat("x", maxTenantBytes)}
		for _, name := range names {
			b.setQuota(name, Quota{Concurrency: 1})
			b.submit(of(name, "1"))
			b.submit(of(name, "2"))
		}
		seen := []string{}
		for range names {
			task := b.takeAt(Default, time.Now())
			tenant, err := b.rdb.HGet(b.ctx, "asynq:{sandloop:default}:t:"+task, "tenant").Result()
			require.NoError(t, err)
			seen = append(seen, tenant)
		}
		require.ElementsMatch(t, names, seen)
		require.Empty(t, b.takeAt(Default, time.Now()), "one at a time of each")
	})
}

// What an older version, or somebody with asynq's tools, put into asynq's own list.
func TestTasksWithoutATenantAreTakenFirst(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submit(of("alice", "1"))
		id := b.submit(of("bob", "1"))
		require.NoError(t, b.client.store.withdraw(b.ctx, Default, "bob", ref{id, 1}))
		require.NoError(t, b.client.store.enqueue(b.ctx, b.client.store.tasks, "sandloop:default", ref{id, 1}))
		require.Equal(t, id+":1", b.takeAt(Default, time.Now()))
		require.Equal(t, "a", b.taken(1))
	})
}

func TestPausedQueueGivesNothing(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.submit(of("alice", "1"))
		require.NoError(t, b.rdb.Set(b.ctx, "asynq:{sandloop:default}:paused", 1, 0).Err())
		require.Empty(t, b.takeAt(Default, time.Now()))
		require.NoError(t, b.rdb.Del(b.ctx, "asynq:{sandloop:default}:paused").Err())
		require.NotEmpty(t, b.takeAt(Default, time.Now()))
	})
}

// The reply was lost, and the script is sent again.
func TestAdmissionSentTwiceCountsOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.setQuota("alice", Quota{MaxQueued: 1})
		id := b.submit(of("alice", "1"))
		for _, mode := range []string{admitNew, admitAgain, admitForced} {
			a := &admission{queue: Default, tenant: "alice", size: 100, mode: mode}
			require.NoError(t, b.client.store.admit(b.ctx, b.client.store.tasks, ref{id, 1}, a))
		}
		require.EqualValues(t, 1, b.pending())
		b.consistent(Default)
	})
}

// A job that was running is not behind the thousand others of its tenant.
func TestRecoveredJobIsItsTenantsNext(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		ids := b.submitMany("alice", 3)
		require.Equal(t, ids[0]+":1", b.takeAt(Default, time.Now()))
		ghost, _ := b.ghost(ids[0])
		require.NoError(t, ghost.recoverJob(b.ctx, ids[0]+":1", "ghost"))
		require.Equal(t, ids[0]+":2", b.takeAt(Default, time.Now()))
		require.Equal(t, ids[1]+":1", b.takeAt(Default, time.Now()))
	})
}

// A task that somebody has deleted in asynq's own way is passed over.
func TestATaskThatIsGoneIsPassedOver(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		ids := b.submitMany("alice", 2)
		require.NoError(t, b.rdb.Del(b.ctx, "asynq:{sandloop:default}:t:"+ids[0]+":1").Err())
		require.Equal(t, ids[1]+":1", b.takeAt(Default, time.Now()))
		require.Empty(t, b.takeAt(Default, time.Now()))
		b.consistent(Default)
		stats, err := b.client.Stats(b.ctx)
		require.NoError(t, err)
		require.Zero(t, stats.Queues[1].Bytes, "and its size is not counted for ever")
	})
}

// consistent checks that what is counted of a queue is what is there. It returns how many jobs wait.
func (b *bundle) consistent(queue Queue) int64 {
	b.t.Helper()
	base := b.client.store.keys.turns(queue)
	heads, err := b.rdb.ZRangeWithScores(b.ctx, base+"heads", 0, -1).Result()
	require.NoError(b.t, err)
	var jobs, bytes int64
	tenants := []string{}
	for _, head := range heads {
		tenant := head.Member.(string)
		tenants = append(tenants, tenant)
		tasks, err := b.rdb.ZRangeWithScores(b.ctx, base+"waiting:"+tenant, 0, -1).Result()
		require.NoError(b.t, err)
		require.NotEmpty(b.t, tasks)
		require.InDelta(b.t, tasks[0].Score, head.Score, 0, "the place of the first one")
		var size int64
		for _, task := range tasks {
			n, err := b.rdb.HGet(b.ctx, asynqKey(b.client.store.keys.asynqQueue(queue), "t:")+task.Member.(string), "size").Int64()
			require.NoError(b.t, err)
			size += n
		}
		counted, err := b.rdb.HGet(b.ctx, base+"tenant:"+tenant, "bytes").Int64()
		require.NoError(b.t, err)
		require.Equal(b.t, size, counted)
		jobs, bytes = jobs+int64(len(tasks)), bytes+size
	}
	turning, err := b.rdb.ZRange(b.ctx, base+"turns", 0, -1).Result()
	require.NoError(b.t, err)
	held, err := b.rdb.ZRange(b.ctx, base+"held", 0, -1).Result()
	require.NoError(b.t, err)
	require.ElementsMatch(b.t, tenants, slices.Concat(turning, held), "each waits for a turn or is held")
	counted, err := b.rdb.HMGet(b.ctx, base+"queue", "jobs", "bytes").Result()
	require.NoError(b.t, err)
	if counted[0] != nil {
		require.Equal(b.t, []any{fmt.Sprint(jobs), fmt.Sprint(bytes)}, counted)
	}
	return jobs
}

// Whatever is done in whatever order, the counts are right and no job is lost or taken twice.
func TestCountsDoNotDrift(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		random := rand.New(rand.NewPCG(5, 26))
		b.setQuota("bob", Quota{Concurrency: 2, Weight: 3})
		b.setQuota("carol", Quota{MaxQueued: 3})
		store := b.client.store
		waiting, running, retried := map[string]string{}, map[string]string{}, map[string]bool{} // tenant by task
		for step := range 200 {
			switch n := random.IntN(10); {
			case n < 4:
				tenant := []string{"alice", "bob", "carol"}[random.IntN(3)]
				submission, err := b.client.Submit(b.ctx, of(tenant, strings.Repeat("x", random.IntN(100))))
				if err == nil {
					waiting[submission.ID+":1"] = tenant
				}
			case n < 7:
				task := b.takeAt(Default, time.Now())
				if task == "" {
					continue
				}
				require.Contains(t, waiting, task)
				running[task] = waiting[task]
				delete(waiting, task)
			case n < 8: // it ends, and asynq's script has been run
				for task, tenant := range running {
					require.NoError(t, b.rdb.ZRem(b.ctx, "asynq:{sandloop:default}:lease", task).Err())
					require.NoError(t, newTurns(store.keys, Default).vacate(b.ctx, b.rdb, tenant, task).Err())
					delete(running, task)
					break
				}
			case n < 9:
				for task, tenant := range waiting {
					if retried[task] { // it may be in asynq's list
						continue
					}
					r, _ := parseRef(task)
					require.NoError(t, store.withdraw(b.ctx, Default, tenant, r))
					delete(waiting, task)
					break
				}
			default: // asynq's own tries again
				for task, tenant := range running {
					require.NoError(t, b.rdb.LRem(b.ctx, "asynq:{sandloop:default}:active", 0, task).Err())
					require.NoError(t, b.rdb.ZRem(b.ctx, "asynq:{sandloop:default}:lease", task).Err())
					require.NoError(t, b.rdb.LPush(b.ctx, "asynq:{sandloop:default}:pending", task).Err())
					require.NoError(t, newTurns(store.keys, Default).vacate(b.ctx, b.rdb, tenant, task).Err())
					waiting[task], retried[task] = tenant, true
					delete(running, task)
					break
				}
			}
			if step%5 != 0 {
				continue
			}
			listed, err := b.rdb.LLen(b.ctx, "asynq:{sandloop:default}:pending").Result()
			require.NoError(t, err)
			require.EqualValues(t, len(waiting), b.consistent(Default)+listed)
		}
		require.NoError(t, b.client.RemoveQuota(b.ctx, "bob"))
		for range len(waiting) {
			task := b.takeAt(Default, time.Now())
			require.Contains(t, waiting, task)
			delete(waiting, task)
		}
		require.Empty(t, b.takeAt(Default, time.Now()))
		require.Zero(t, b.consistent(Default))
	})
}
