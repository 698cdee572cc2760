package jobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// setupCluster starts a cluster of one server, which refuses commands on keys of several
// slots as a larger one does.
func setupCluster(t *testing.T) *bundle {
	t.Helper()
	addr := testenv.RedisServer(t, "--cluster-enabled", "yes")
	single := connect(t, addr)
	require.NoError(t, single.rdb.Do(single.ctx, "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err())
	eventually(t, func() bool {
		info, err := single.rdb.ClusterInfo(single.ctx).Result()
		return err == nil && parseInfo(info)["cluster_state"] == "ok"
	}, "cluster is up")
	rdb, err := ConnectRedis(RedisOptions{Addr: "redis+cluster://" + addr})
	require.NoError(t, err)
	return bundleOf(t, addr, rdb)
}

// setupSentinel starts a server and a sentinel that watches it.
func setupSentinel(t *testing.T) *bundle {
	t.Helper()
	addr := testenv.RedisServer(t)
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	sentinel := listener.Addr().(*net.TCPAddr)
	require.NoError(t, listener.Close())
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	content := fmt.Sprintf("port %d\nbind 127.0.0.1\nsentinel monitor main %s %s 1\n", sentinel.Port, host, port)
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	command := exec.Command("redis-server", file, "--sentinel") //nolint:noctx // killed in Cleanup
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	rdb, err := ConnectRedis(RedisOptions{Addr: "redis+sentinel://" + sentinel.String() + "/main"})
	require.NoError(t, err)
	b := bundleOf(t, addr, rdb)
	eventually(t, func() bool { return rdb.Ping(b.ctx).Err() == nil }, "sentinel is up")
	return b
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
