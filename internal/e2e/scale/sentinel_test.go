package scale_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/scale"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/testenv"
)

// What the replica has when the master dies has one result each, and workers and those who await go on as they are.
// What it has not is lost, is known to be lost, and runs once it is submitted again.
func TestSentinelFailoverUnderLoad(t *testing.T) {
	t.Parallel()
	servers := testenv.StartRedisSentinel(t)
	in := newInstallation(t, "redis+sentinel://"+servers.Addrs()+"/"+testenv.SentinelMaster)
	workers := []*process{in.start(4), in.start(4)}
	waiting := in.submitWaiting(200, 100*time.Millisecond)
	in.requireReplicated()
	awaited := in.awaitAll(waiting)
	for _, worker := range workers {
		worker.waitForWork(4)
	}

	cutOff(t, servers)
	lost := in.submitWaiting(50, 0)
	require.Zero(t, in.replicas(), "nothing is replicated any more")
	servers.Master.End(syscall.SIGKILL)
	began := time.Now()
	servers.Replica.Signal(t, syscall.SIGCONT)
	load := in.keepBusy(4, 20*time.Millisecond) // its submissions fail until there is a master
	load.waitFor(8)
	t.Logf("the first jobs after the master's death ended after %s", time.Since(began).Round(time.Millisecond))

	records := awaited()
	require.Len(t, records, len(waiting))
	requireOneResultEach(t, records)
	again := in.resubmit(lost)
	require.Equal(t, len(lost), again, "what was not replicated is lost, all of it and nothing else")
	requireOneResultEach(t, in.awaitAll(lost)())
	requireOneResultEach(t, load.end())
	require.Empty(t, load.errs)
	in.requireNothingWaits(len(workers))
	for _, worker := range workers {
		require.Equal(t, 0, worker.signal(syscall.SIGTERM), "the same process as before: %s", &worker.log)
	}
	t.Logf("%d replicated jobs have one result each; %d unreplicated ones were lost and submitted again", len(waiting), again)
}

// With min-replicas-to-write nothing is accepted that could be lost, so nothing is.
func TestSentinelFailoverWithMinReplicasLosesNothing(t *testing.T) {
	t.Parallel()
	servers := testenv.StartRedisSentinel(t, "--min-replicas-to-write", "1")
	in := newInstallation(t, "redis+sentinel://"+servers.Addrs()+"/"+testenv.SentinelMaster)
	workers := []*process{in.start(4), in.start(4)}
	waiting := in.submitWaiting(200, 100*time.Millisecond)
	awaited := in.awaitAll(waiting)
	for _, worker := range workers {
		worker.waitForWork(4)
	}

	cutOff(t, servers)
	_, err := in.client.Submit(in.ctx, jobs.Job{ID: "refused", Program: scale.Sleep(0)})
	require.ErrorContains(t, err, "NOREPLICAS")
	servers.Master.End(syscall.SIGKILL)
	servers.Replica.Signal(t, syscall.SIGCONT)
	in.eventually(func() bool { return in.masterAddr() == servers.Replica.Addr }, "the replica is promoted")
	_, err = in.client.Submit(in.ctx, jobs.Job{ID: "refused", Program: scale.Sleep(0)})
	require.Error(t, err, "one server alone takes nothing either")
	servers.Master.Start(t) // and becomes the replica of the other one

	require.NoError(t, submit(in.ctx, in.client, jobs.Job{ID: "refused", Program: scale.Sleep(0)}))
	records := awaited()
	require.Len(t, records, len(waiting))
	require.Zero(t, requireOneResultEach(t, records), "no worker counts as dead because nobody could write")
	requireOneResultEach(t, in.awaitAll([]string{"refused"})())
	in.requireNothingLeft(len(workers))
	for _, worker := range workers {
		require.Equal(t, 0, worker.signal(syscall.SIGTERM), "the same process as before: %s", &worker.log)
	}
}

// submitWaiting submits jobs and returns their ids.
func (in *installation) submitWaiting(count int, sleep time.Duration) []string {
	in.t.Helper()
	many := make([]jobs.Job, count)
	for i := range many {
		many[i] = jobs.Job{Queue: jobs.Queues()[i%3], Program: scale.Sleep(sleep)}
	}
	submissions, err := in.client.SubmitMany(in.ctx, many)
	require.NoError(in.t, err)
	ids := make([]string, count)
	for i, submission := range submissions {
		ids[i] = submission.ID
	}
	return ids
}

// resubmit submits jobs of submitWaiting again, as a producer should after a failover, and returns how many were not
// there any more.
func (in *installation) resubmit(ids []string) (lost int) {
	in.t.Helper()
	for i, id := range ids {
		submission, err := in.client.Submit(in.ctx, jobs.Job{ID: id, Queue: jobs.Queues()[i%3], Program: scale.Sleep(0)})
		require.NoError(in.t, err)
		if !submission.Existing {
			lost++
		}
	}
	return lost
}

// awaitAll begins to await jobs; the function that it returns waits for all of them.
func (in *installation) awaitAll(ids []string) func() map[string]jobs.Record {
	type done struct {
		record jobs.Record
		err    error
	}
	ended := make(chan done, len(ids))
	for _, id := range ids {
		go func() {
			record, err := in.client.Await(in.ctx, id)
			ended <- done{record, err}
		}()
	}
	return func() map[string]jobs.Record {
		in.t.Helper()
		records := map[string]jobs.Record{}
		for range ids {
			d := <-ended
			require.NoError(in.t, d.err)
			records[d.record.JobID] = d.record
		}
		return records
	}
}

// replicas asks how many replicas have all that was written up to now, and waits a second for one.
func (in *installation) replicas() int64 {
	in.t.Helper()
	replicas, err := barrier(in.ctx, in.rdb, "barrier")
	require.NoError(in.t, err)
	return replicas
}

func (in *installation) requireReplicated() {
	in.t.Helper()
	in.eventually(func() bool { return in.replicas() > 0 }, "all is replicated")
}

// barrier writes a key and waits, on the same connection, for one replica to have it, and so all that was written before.
func barrier(ctx context.Context, rdb redis.Cmdable, key string) (int64, error) {
	var replicas *redis.Cmd
	_, err := rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, key, 1, time.Minute)
		replicas = pipe.Do(ctx, "WAIT", 1, time.Second.Milliseconds())
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("wait for replicas: %w", err)
	}
	return replicas.Int64()
}

// cutOff freezes the replica and closes its connection, so that whatever is written now is on the master alone.
func cutOff(t *testing.T, servers *testenv.RedisSentinel) {
	t.Helper()
	servers.Replica.Signal(t, syscall.SIGSTOP)
	master := redis.NewClient(&redis.Options{Addr: servers.Master.Addr})
	defer func() { require.NoError(t, master.Close()) }()
	require.NoError(t, master.ClientKillByFilter(t.Context(), "TYPE", "replica").Err())
}

// masterAddr is the address of the server that a new connection leads to, empty while there is none.
func (in *installation) masterAddr() string {
	in.t.Helper()
	port, err := in.rdb.ConfigGet(in.ctx, "port").Result()
	if err != nil {
		return ""
	}
	return "127.0.0.1:" + port["port"]
}
