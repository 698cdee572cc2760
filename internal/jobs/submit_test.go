package jobs

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// pending counts the tasks that wait on the default queue.
func (b *bundle) pending() int64 {
	b.t.Helper()
	stats, err := b.client.Stats(b.ctx)
	require.NoError(b.t, err)
	return stats.Queues[1].Pending
}

func TestSubmitWithAKeyIsDoneOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		keyed := job("1")
		keyed.IdempotencyKey = "build-17"
		first, err := b.client.Submit(b.ctx, keyed)
		require.NoError(t, err)
		require.Equal(t, Submission{ID: KeyedID("alice", "build-17")}, first)
		second, err := b.client.Submit(b.ctx, keyed)
		require.NoError(t, err)
		require.Equal(t, Submission{ID: first.ID, Existing: true}, second)
		require.EqualValues(t, 1, b.pending())

		other := keyed
		other.Program.Source = sandbox.Bytes("2")
		_, err = b.client.Submit(b.ctx, other)
		require.ErrorIs(t, err, ErrConflict)
		require.ErrorContains(t, err, first.ID)

		other.Tenant = "bob"
		third, err := b.client.Submit(b.ctx, other)
		require.NoError(t, err, "another tenant's key is another key")
		require.NotEqual(t, first.ID, third.ID)
	})
}

func TestSubmitOfADoneJobReturnsIt(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		keyed := job("1")
		keyed.IdempotencyKey = "k"
		b.start(echoRunner{})
		id := b.submit(keyed)
		before := b.await(id)
		again, err := b.client.Submit(b.ctx, keyed)
		require.NoError(t, err)
		require.True(t, again.Existing)
		require.EqualValues(t, 0, b.pending())
		require.Equal(t, before, b.await(id))
	})
}

// A submitter that died between storing the job and enqueueing its task.
func TestRepeatedSubmitHealsOneThatWasCutShort(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		keyed := job("1")
		keyed.IdempotencyKey = "k"
		p, err := b.client.prepare(keyed, time.Now())
		require.NoError(t, err)
		p.submission = &Submission{}
		b.client.create(b.ctx, []*pendingJob{p})
		require.NoError(t, p.submission.Err)
		require.EqualValues(t, 0, b.pending())

		again, err := b.client.Submit(b.ctx, keyed)
		require.NoError(t, err)
		require.True(t, again.Existing)
		require.EqualValues(t, 1, b.pending())
	})
}

// Redis ran the script, but its reply was lost, and go-redis sends the script again.
func TestSubmitSentTwiceIsNotAnExistingJob(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		p, err := b.client.prepare(job("1"), time.Now())
		require.NoError(t, err)
		for range 2 {
			reply, err := b.client.store.run(b.ctx, createScript, p.ref.ID, p.args...)
			require.NoError(t, err)
			require.Equal(t, []string{"created", "queued", "1", "default"}, reply)
		}
	})
}

func TestSubmitManyQueuesEachJobOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	jobs := make([]Job, 10_000)
	for i := range jobs {
		jobs[i] = job(fmt.Sprint(i))
	}
	start := time.Now()
	submissions, err := b.client.SubmitMany(b.ctx, jobs)
	t.Logf("%.0f jobs/s", float64(len(jobs))/time.Since(start).Seconds())
	require.NoError(t, err)
	require.EqualValues(t, 10_000, b.pending())
	tasks, err := b.rdb.ZRange(b.ctx, "sandloop:{sandloop:default}:waiting:alice", 0, -1).Result()
	require.NoError(t, err)
	queued := map[string]bool{}
	for _, task := range tasks {
		queued[task] = true
	}
	require.Len(t, queued, 10_000)
	for i, submission := range submissions {
		require.True(t, queued[submission.ID+":1"], submission.ID)
		if i%1000 == 0 {
			body, err := b.rdb.Get(b.ctx, "sandloop:{"+submission.ID+"}:job").Result()
			require.NoError(t, err)
			require.Contains(t, body, fmt.Sprintf(`"source":"%d"`, i))
		}
	}
}

func TestSubmitManyReportsEachJob(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		bad, large := job("1"), job(strings.Repeat("x", 2000))
		bad.Queue = "urgent"
		client := NewClient(b.rdb, ClientOptions{BodyLimit: 1000})
		submissions, err := client.SubmitMany(b.ctx, []Job{job("1"), bad, large, job("2")})
		require.ErrorContains(t, err, "2 of 4 jobs were not accepted")
		require.NoError(t, submissions[0].Err)
		require.ErrorContains(t, submissions[1].Err, `"urgent" is unknown`)
		require.ErrorIs(t, submissions[2].Err, ErrTooLarge)
		require.ErrorContains(t, submissions[2].Err, "want at most 1000")
		require.NoError(t, submissions[3].Err)
		require.EqualValues(t, 2, b.pending())
	})
}

func TestSubmitSurvivesAFlushOfScripts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.submit(job("1"))
	require.NoError(t, b.rdb.ScriptFlush(b.ctx).Err())
	b.submit(job("2"))
	require.EqualValues(t, 2, b.pending())
}

func TestSubmitWithoutRedisIsAnError(t *testing.T) {
	t.Parallel()
	rdb, err := ConnectRedis(RedisOptions{Addr: "127.0.0.1:1"})
	require.NoError(t, err)
	defer func() { require.NoError(t, rdb.Close()) }()
	submission, err := NewClient(rdb, ClientOptions{}).Submit(t.Context(), job("1"))
	require.ErrorContains(t, err, "submit job")
	require.Empty(t, submission)
	require.NotErrorIs(t, err, ErrConflict)
}

func TestLargeResultComesBackAsItWas(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{})
		source := strings.Repeat("0123456789abcdef", 64<<10)
		id := b.submit(job(source))
		record := b.await(id)
		require.Equal(t, source, string(record.Result.Stdout.Data))
		require.EqualValues(t, 1<<20, record.Result.Stdout.Total)
		size, err := b.rdb.StrLen(b.ctx, "sandloop:{"+id+"}:result").Result()
		require.NoError(t, err)
		require.Less(t, size, int64(20_000), "it is stored compressed")
		left, err := b.rdb.Exists(b.ctx, "sandloop:{"+id+"}:job").Result()
		require.NoError(t, err)
		require.Zero(t, left, "the body of a job with a result is not kept")
	})
}

func TestLargeJobArrivesAsItWasSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	runner := newFakeRunner()
	b.start(runner)
	noise := make([]byte, 8<<20) // as stored, more than two pieces
	_, err := rand.Read(noise)
	require.NoError(t, err)
	large := job("")
	large.Program.Files = []sandbox.File{{Path: "main.py", Data: noise}}
	id := b.submit(large)
	r := receive(t, runner.runs)
	require.True(t, bytes.Equal(noise, r.program.Files[0].Data))
	r.succeed("")
	b.await(id)
}

func TestResultIsGoneAfterItsRetention(t *testing.T) {
	both(t, func(t *testing.T, b *bundle) {
		b.start(echoRunner{}, func(o *WorkerOptions) { o.Retention = time.Second })
		id := b.submit(job("1"))
		b.await(id)
		eventually(t, func() bool { _, err := b.client.Result(b.ctx, id); return errors.Is(err, ErrNotFound) }, "result expires")
		keys, err := b.rdb.Keys(b.ctx, "*{"+id+"}*").Result()
		require.NoError(t, err)
		require.Empty(t, keys)
	})
}
