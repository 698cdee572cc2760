package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// as connects as one of the users whom deploy/redis/users.acl has.
func as(t testing.TB, addr, user string) redis.UniversalClient {
	t.Helper()
	rdb, err := ConnectRedis(RedisOptions{Addr: addr, Username: user, Password: testenv.RedisPassword(user)})
	require.NoError(t, err)
	return rdb
}

// denied lists what Redis has refused anybody.
func denied(t testing.TB, admin redis.UniversalClient) (entries []string) {
	t.Helper()
	log, err := admin.(*redis.Client).ACLLog(t.Context(), 100).Result()
	require.NoError(t, err)
	for _, entry := range log {
		entries = append(entries, fmt.Sprintf("%s may not %s %s (%s)", entry.Username, entry.Reason, entry.Object, entry.Context))
	}
	return entries
}

// Everything that workers and producers do with the queue they can do as the users that are published.
func TestWorkersAndProducersNeedNoMoreOfRedisThanIsPublished(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisWithUsers(t)
	admin := as(t, addr, testenv.RedisAdmin)
	t.Cleanup(func() { require.NoError(t, admin.Close()) })
	ofWorker := as(t, addr, testenv.RedisWorker)
	t.Cleanup(func() { require.NoError(t, ofWorker.Close()) })
	b := bundleOf(t, addr, as(t, addr, testenv.RedisProducer))

	warnings, err := CheckRedis(b.ctx, ofWorker)
	require.NoError(t, err)
	require.Len(t, warnings, 1, "it has no AOF, and tells that")
	_, err = EnsureInstallation(b.ctx, ofWorker, "", "")
	require.NoError(t, err)
	runner, judged, inSessions, reaped := newFakeRunner(), newFakeJudge(), newFakeSessions(), make(chan struct{}, 100)
	start := func(id string, options ...func(*WorkerOptions)) *testWorker {
		return b.start(runner, append(options, func(o *WorkerOptions) {
			o.ID, o.Redis, o.Judge, o.MaxAttempts = id, ofWorker, judged, 2
			o.Host, o.ReapEvery, o.Reap = "host", time.Second, func(context.Context) error { notify(reaped); return nil }
		})...)
	}
	w := start("one", in(inSessions))
	receive(t, reaped)

	j := job("followed")
	j.Follow, j.IdempotencyKey = true, "k"
	id := b.submit(j)
	require.Equal(t, id, b.submit(j))
	pieces, ended := b.follow(id)
	r := receive(t, runner.runs)
	r.program.OnOutput(stdout("live"))
	require.Equal(t, "run/stdout:live", receive(t, pieces))
	r.answer <- answer{err: errors.New("no daemon")} // and it is tried again
	receive(t, runner.runs).succeed("")
	b.await(id)
	require.NoError(t, receive(t, ended))

	id = b.submit(job("canceled while it runs"))
	receive(t, runner.runs)
	_, err = b.client.Cancel(b.ctx, id)
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, b.await(id).Result.Outcome)

	id = b.submit(job("dead"))
	for range 2 {
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
	}
	b.await(id)
	require.Len(t, b.dead(DeadFilter{}), 1)
	_, _, err = b.client.DeadLetter(b.ctx, id)
	require.NoError(t, err)
	require.NoError(t, b.client.RetryDead(b.ctx, id))
	for range 2 {
		receive(t, runner.runs).answer <- answer{err: errors.New("no daemon")}
	}
	b.await(id)
	require.NoError(t, b.client.DeleteDead(b.ctx, id))

	ids, err := b.client.PutBlobs(b.ctx, []byte("small"), make([]byte, 1<<20), noise(t, 5<<20))
	require.NoError(t, err)
	for _, id := range ids {
		_, err := NewBlobs(ofWorker, "", 0, nil, nil).Get(b.ctx, id)
		require.NoError(t, err)
	}
	id = b.submit(submission("judged"))
	receive(t, judged.calls).answer <- judgement{report: report(grade.AC)}
	b.await(id)
	id = b.submit(sessionJob("cell"))
	receive(t, inSessions.runs).fail(ErrSessionBusy)
	receive(t, inSessions.runs).succeed("")
	b.await(id)

	_, err = b.client.Stats(b.ctx)
	require.NoError(t, err)
	for _, queue := range Queues() {
		_, err = b.client.Tenants(b.ctx, queue)
		require.NoError(t, err)
	}
	require.NoError(t, b.client.SetQuota(b.ctx, "alice", Quota{MaxQueued: 1}))
	_, err = b.client.Quotas(b.ctx)
	require.NoError(t, err)
	require.NoError(t, b.client.SetDepth(b.ctx, Batch, Depth{MaxQueued: 1000}))
	_, err = b.client.Depths(b.ctx)
	require.NoError(t, err)
	w.stop(t)
	waits := b.submit(job("waits"))
	var full *QuotaError
	_, err = b.client.Submit(b.ctx, job("has no room"))
	require.ErrorAs(t, err, &full)
	require.NoError(t, b.client.RemoveQuota(b.ctx, "alice"))
	_, err = b.client.Cancel(b.ctx, b.submit(job("canceled while it waits")))
	require.NoError(t, err)
	inBatch := b.submit(job("of a batch"))
	require.NoError(t, b.client.TrackBatch(b.ctx, "batch", []string{inBatch}, nil))
	_, err = b.client.CancelBatch(b.ctx, "batch")
	require.NoError(t, err)
	require.NoError(t, b.client.ResumeBatch(b.ctx, "batch"))

	ghost := bundleOf(t, addr, as(t, addr, testenv.RedisWorker)) // a worker that began a job and is gone
	ghost.ghost(waits)
	start("two", func(o *WorkerOptions) { o.Concurrency = 1 })
	receive(t, runner.runs).succeed("recovered")
	b.await(waits)
	alive, err := b.client.WorkerAlive(b.ctx, "one", "two")
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"one": false, "two": true}, alive)
	require.Empty(t, denied(t, admin))
}

// What would show or destroy what is not theirs, or change the server, neither may do.
func TestWhatWorkersAndProducersMayNotDoInRedis(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisWithUsers(t)
	for _, user := range []string{testenv.RedisWorker, testenv.RedisProducer} {
		rdb := as(t, addr, user)
		for _, command := range [][]any{
			{"KEYS", "*"},
			{"SCAN", "0"},
			{"RANDOMKEY"},
			{"DBSIZE"},
			{"FLUSHALL"},
			{"FLUSHDB"},
			{"CONFIG", "GET", "*"},
			{"CONFIG", "SET", "dir", "/"},
			{"SAVE"},
			{"BGREWRITEAOF"},
			{"SHUTDOWN"},
			{"DEBUG", "SLEEP", "0"},
			{"MONITOR"},
			{"ACL", "LIST"},
			{"ACL", "SETUSER", "x"},
			{"CLIENT", "LIST"},
			{"CLIENT", "KILL", "ID", "1"},
			{"REPLICAOF", "evil", "6379"},
			{"SLAVEOF", "NO", "ONE"},
			{"MODULE", "LOAD", "/x"},
			{"FUNCTION", "LIST"},
			{"SCRIPT", "FLUSH"},
			{"SCRIPT", "LOAD", "return 1"},
			{"SWAPDB", "0", "1"},
			{"MIGRATE", "evil", "6379", "k", "0", "1"},
			{"DUMP", "sandloop:{x}:job"},
			{"OBJECT", "HELP"},
			{"SORT", "sandloop:{x}:job"},
			{"SLOWLOG", "GET"},
			{"LATENCY", "RESET"},
			{"PUBSUB", "CHANNELS"},
			{"PSUBSCRIBE", "*"},
			{"GET", "other:key"},
			{"SET", "other", "1"},
			{"GET", "asynq:{other}:t:1"},
			{"PUBLISH", "other", "x"},
			{"EVAL", "return redis.call('GET', KEYS[1])", "1", "other"},
			{"EVAL", "return redis.call('KEYS', '*')", "0"},
			{"EVAL", "return redis.call('CONFIG', 'GET', '*')", "0"},
		} {
			err := rdb.Do(t.Context(), command...).Err()
			require.Error(t, err, "%s %v", user, command)
			require.Regexp(t, "NOPERM|No permissions|can't run this command|not allowed from script|(DEBUG|MODULE) command not allowed", err.Error(), "%s %v", user, command)
		}
		require.NoError(t, rdb.Close())
	}
	producer := as(t, addr, testenv.RedisProducer)
	for _, key := range []string{"sandloop:installation", "sandloop:running:w", "sandloop:reaped:h", "asynq:servers", "asynq:workers:{x:1:y}"} {
		require.ErrorContains(t, producer.Get(t.Context(), key).Err(), "NOPERM", key)
	}
	require.ErrorContains(t, producer.Info(t.Context()).Err(), "NOPERM")
	require.NoError(t, producer.Close())
	nobody, err := ConnectRedis(RedisOptions{Addr: addr})
	require.NoError(t, err)
	require.Error(t, nobody.Ping(t.Context()).Err(), "there is no default user")
	require.NoError(t, nobody.Close())
}
