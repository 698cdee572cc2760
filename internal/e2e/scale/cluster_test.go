package scale_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/scale"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/testenv"
)

// Three masters with a replica each. One that holds a queue is killed and its replica takes over; another one that holds a
// queue changes places with its replica without a fault, so that every client is sent elsewhere. Workers and those who
// await go on as they are.
func TestClusterFailoverUnderLoad(t *testing.T) {
	t.Parallel()
	servers := testenv.StartRedisCluster(t, 3, 1)
	in := newInstallation(t, "redis+cluster://"+servers.Addrs())
	cluster := in.rdb.(*redis.ClusterClient)
	workers := []*process{in.start(4), in.start(4)}
	waiting := in.submitWaiting(200, 100*time.Millisecond)
	requireEveryMasterReplicated(t, cluster)
	awaited := in.awaitAll(waiting)
	for _, worker := range workers {
		worker.waitForWork(4)
	}

	killed := masterOf(t, cluster, jobs.Default)
	servers.Node(t, killed).End(syscall.SIGKILL)
	began := time.Now()
	load := in.keepBusy(6, 20*time.Millisecond)
	load.waitFor(12)
	t.Logf("the first jobs through all queues after a master's death ended after %s", time.Since(began).Round(time.Millisecond))
	require.NotEqual(t, killed, masterOf(t, cluster, jobs.Default))

	moved := masterOf(t, cluster, jobs.Batch)
	if moved == killed {
		moved = masterOf(t, cluster, jobs.Interactive)
	}
	handOver(t, moved)
	load.waitFor(100)

	records := awaited()
	require.Len(t, records, len(waiting))
	again := requireOneResultEach(t, records)
	requireOneResultEach(t, load.end())
	require.Empty(t, load.errs)
	in.requireNothingWaits(len(workers))
	for _, worker := range workers {
		require.Equal(t, 0, worker.signal(syscall.SIGTERM), "the same process as before: %s", &worker.log)
	}
	t.Logf("%d jobs of before have one result each, %d of them were begun again; %d of later", len(waiting), again, load.finished.Load())
}

// A job whose node is down cannot be submitted, and is when the node is back; those on other nodes wait as long.
func TestClusterWithoutOneMasterWaitsForIt(t *testing.T) {
	t.Parallel()
	servers := testenv.StartRedisCluster(t, 3, 0, "--appendonly", "yes")
	in := newInstallation(t, "redis+cluster://"+servers.Addrs())
	worker := in.start(2)
	waiting := in.submitWaiting(60, 100*time.Millisecond)
	awaited := in.awaitAll(waiting)
	worker.waitForWork(4)
	node := servers.Node(t, masterOf(t, in.rdb.(*redis.ClusterClient), jobs.Default))
	node.End(syscall.SIGKILL)
	in.eventually(func() bool {
		ctx, cancel := context.WithTimeout(in.ctx, 2*time.Second)
		defer cancel()
		_, err := in.client.Submit(ctx, jobs.Job{ID: "refused", Program: scale.Sleep(0)})
		return err != nil
	}, "the cluster is down")
	node.Start(t)
	require.NoError(t, submit(in.ctx, in.client, jobs.Job{ID: "refused", Program: scale.Sleep(0)}))
	requireOneResultEach(t, awaited())
	requireOneResultEach(t, in.awaitAll([]string{"refused"})())
	in.requireNothingLeft(1)
	require.Equal(t, 0, worker.signal(syscall.SIGTERM), "the same process as before: %s", &worker.log)
}

// masterOf is the address of the master that holds a queue.
func masterOf(t *testing.T, cluster *redis.ClusterClient, queue jobs.Queue) string {
	t.Helper()
	var addr string
	require.Eventually(t, func() bool {
		cluster.ReloadState(t.Context())
		master, err := cluster.MasterForKey(t.Context(), "{"+jobs.DefaultPrefix+":"+string(queue)+"}")
		if err != nil || master.Ping(t.Context()).Err() != nil {
			return false
		}
		addr = master.Options().Addr
		return true
	}, testenv.Scale(t, time.Minute), 20*time.Millisecond)
	return addr
}

// requireEveryMasterReplicated waits until the replica of each master has all that was written before.
func requireEveryMasterReplicated(t *testing.T, cluster *redis.ClusterClient) {
	t.Helper()
	seen := map[string]bool{}
	for i := 0; len(seen) < 3; i++ {
		require.Less(t, i, 10_000, "keys that find no third master")
		key := fmt.Sprintf("barrier-%d", i)
		master, err := cluster.MasterForKey(t.Context(), key)
		require.NoError(t, err)
		if addr := master.Options().Addr; !seen[addr] {
			replicas, err := barrier(t.Context(), master, key)
			require.NoError(t, err)
			require.EqualValues(t, 1, replicas)
			seen[addr] = true
		}
	}
}

// handOver makes the replica of a master take its place; the master becomes the replica and sends its clients away.
func handOver(t *testing.T, master string) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: master})
	defer func() { require.NoError(t, client.Close()) }()
	id, err := client.Do(t.Context(), "CLUSTER", "MYID").Text()
	require.NoError(t, err)
	replicas, err := client.ClusterSlaves(t.Context(), id).Result() //nolint:staticcheck // the library has no other
	require.NoError(t, err)
	require.Len(t, replicas, 1)
	addr, _, _ := strings.Cut(strings.Fields(replicas[0])[1], "@")
	replica := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { require.NoError(t, replica.Close()) }()
	require.NoError(t, replica.ClusterFailover(t.Context()).Err())
	require.Eventually(t, func() bool {
		info, err := client.Info(t.Context(), "replication").Result()
		return err == nil && strings.Contains(info, "role:slave")
	}, testenv.Scale(t, time.Minute), 20*time.Millisecond)
}
