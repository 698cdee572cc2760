package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// setupCluster starts a cluster of three masters, none of which has all keys.
func setupCluster(t *testing.T) *bundle {
	t.Helper()
	cluster := testenv.StartRedisCluster(t, 3, 0)
	rdb, err := ConnectRedis(RedisOptions{Addr: "redis+cluster://" + cluster.Addrs()})
	require.NoError(t, err)
	return bundleOf(t, cluster.Nodes[0].Addr, rdb)
}

// setupSentinel starts a server, its replica and the sentinels that watch them.
func setupSentinel(t *testing.T) *bundle {
	t.Helper()
	servers := testenv.StartRedisSentinel(t)
	rdb, err := ConnectRedis(RedisOptions{Addr: "redis+sentinel://" + servers.Addrs() + "/" + testenv.SentinelMaster})
	require.NoError(t, err)
	return bundleOf(t, servers.Master.Addr, rdb)
}

func TestEveryTopologyOfRedis(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(*testing.T) *bundle{"cluster": setupCluster, "sentinel": setupSentinel} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, err := CheckRedis(b.ctx, b.rdb)
			require.NoError(t, err)
			runner := newFakeRunner()
			reaped := make(chan struct{}, 10)
			w := b.start(runner, func(o *WorkerOptions) {
				o.Host, o.Reap = "daemon", func(context.Context) error { reaped <- struct{}{}; return nil }
			})
			receive(t, reaped)
			t.Run("jobs", func(t *testing.T) { everyPath(t, b, runner) })
			w.stop(t)
		})
	}
}

// everyPath goes through every script and every subscription.
func everyPath(t *testing.T, b *bundle, runner *fakeRunner) {
	many := make([]Job, 50)
	for i := range many {
		many[i] = job(fmt.Sprint(i))
		many[i].Queue, many[i].Follow = Queues()[i%3], i == 0
	}
	submissions, err := b.client.SubmitMany(b.ctx, many)
	require.NoError(t, err)
	for range many {
		r := receive(t, runner.runs)
		if r.program.OnOutput != nil {
			r.program.OnOutput(stdout("live"))
		}
		r.succeed(string(r.program.Source))
	}
	for i, submission := range submissions {
		require.Equal(t, fmt.Sprint(i), string(b.await(submission.ID).Result.Stdout.Data))
	}
	pieces, ended := b.follow(submissions[0].ID)
	require.NoError(t, receive(t, ended))
	require.Equal(t, "run/stdout:live", receive(t, pieces))

	canceled := b.submit(job("cancel"))
	receive(t, runner.runs)
	_, err = b.client.Cancel(b.ctx, canceled)
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, b.await(canceled).Result.Outcome)

	failed := b.submit(job("fail"))
	receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
	receive(t, runner.runs).succeed("")
	require.Len(t, b.await(failed).Attempts, 2)

	ghost, err := NewWorker(WorkerOptions{ID: "ghost", Redis: b.rdb, Runner: runner, MaxAttempts: 1})
	require.NoError(t, err)
	doomed := b.submit(job("doomed"))
	r := receive(t, runner.runs)
	require.NoError(t, b.rdb.HSet(b.ctx, "sandloop:{"+doomed+"}:state", "owner", "ghost").Err())
	require.NoError(t, ghost.recoverJob(b.ctx, doomed+":1", "ghost"))
	require.Equal(t, sandbox.OutcomeInfraError, b.await(doomed).Result.Outcome)
	r.succeed("late")
	require.NoError(t, ghost.recoverWorker(b.ctx, "ghost"))

	stats, err := b.client.Stats(b.ctx)
	require.NoError(t, err)
	require.Len(t, stats.Workers, 1)
	require.EqualValues(t, 1, stats.Queues[1].Dead)
	_, err = EnsureInstallation(b.ctx, b.rdb, "", "")
	require.NoError(t, err)
	s := &sweeper{worker: ghost, suspects: map[string]time.Time{}, count: strandedEvery - 1}
	require.NoError(t, s.sweep(b.ctx, time.Now()))
}
