package batch

import (
	"context"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// judge accepts every program, and counts how often it did.
type judge struct {
	mu    sync.Mutex
	times map[string]int
}

func (j *judge) Judge(_ context.Context, program sandbox.Program, _ grade.Task) (sandbox.Result, *grade.Report, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.times[string(program.Source)]++
	return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true}, &grade.Report{Verdict: grade.AC}, nil
}

func (j *judge) Run(context.Context, sandbox.Program) (sandbox.Result, error) {
	panic("a job was run that is to be judged")
}

func (j *judge) KillOlder(context.Context, string, int) error { return nil }

// work starts a worker on a Redis until the end of the test.
func work(t *testing.T, addr string) *judge {
	t.Helper()
	j := &judge{times: map[string]int{}}
	rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: addr})
	require.NoError(t, err)
	worker, err := jobs.NewWorker(jobs.WorkerOptions{Redis: rdb, Runner: j, Judge: j, Concurrency: 4})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, rdb.Close())
	})
	return j
}

func newClient(t *testing.T, addr string) *jobs.Client {
	t.Helper()
	rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: addr, PoolSize: 4})
	require.NoError(t, err)
	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		require.NoError(t, rdb.Close())
	})
	return client
}

// after calls do once, when n results came.
func after(n int, do func()) func(*Options) {
	return func(o *Options) {
		o.Window = 50
		o.Done = func(report.Item) error {
			if n--; n == 0 {
				do()
			}
			return nil
		}
	}
}

func TestABatchOutlivesARestartOfRedisAndOfTheClient(t *testing.T) {
	t.Parallel()
	const number = 400
	redis := testenv.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	judge, path := work(t, redis.Addr), resultsPath(t)

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	counts, err := runWith(ctx, t, newClient(t, redis.Addr), path, number, after(100, interrupt))
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, counts.Finished, number)

	counts, err = runWith(t.Context(), t, newClient(t, redis.Addr), path, number, after(100, func() {
		redis.End(syscall.SIGKILL)
		redis.Start(t)
	}))
	require.NoError(t, err)
	require.Equal(t, number, counts.Results())
	require.Equal(t, map[grade.Verdict]int{grade.AC: number}, counts.Verdicts)

	seen := map[string]int{}
	for _, item := range inFile(t, path) {
		seen[item.ID]++
	}
	require.Equal(t, once(number), seen)
	judge.mu.Lock()
	defer judge.mu.Unlock()
	require.Len(t, judge.times, number)
}

func TestABatchOutlivesARedisThatLosesAllItHas(t *testing.T) {
	t.Parallel()
	const number = 300
	redis := testenv.StartRedis(t)
	work(t, redis.Addr)
	path, prepared := resultsPath(t), 0
	counts, err := runWith(t.Context(), t, newClient(t, redis.Addr), path, number, after(100, func() {
		redis.End(syscall.SIGKILL)
		redis.Start(t)
	}), func(o *Options) { o.Prepare = func(context.Context) error { prepared++; return nil } })
	require.NoError(t, err)
	require.Equal(t, map[grade.Verdict]int{grade.AC: number}, counts.Verdicts)
	require.Len(t, inFile(t, path), number)
	require.Greater(t, prepared, 1)
}

func TestAJobIsJudgedOnceHoweverOftenTheClientStarts(t *testing.T) {
	t.Parallel()
	const number = 200
	redis := testenv.StartRedis(t)
	judge, path := work(t, redis.Addr), resultsPath(t)
	for counts := (Counts{}); counts.Results() < number; {
		ctx, interrupt := context.WithCancel(t.Context())
		counts, _ = runWith(ctx, t, newClient(t, redis.Addr), path, number, after(30, interrupt))
		interrupt()
	}
	require.Len(t, inFile(t, path), number)
	judge.mu.Lock()
	defer judge.mu.Unlock()
	require.Equal(t, once(number), judge.times)
}
