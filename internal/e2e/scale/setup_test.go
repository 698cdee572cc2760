package scale_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/e2e/scale"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	if scale.IsChild(os.Args) {
		os.Exit(scale.RunChild(os.Args))
	}
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	// A client whose Redis was away looks for it once a second, and notices only then that it was closed.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// installation is a Redis with the workers that a test starts on it.
type installation struct {
	t      *testing.T
	ctx    context.Context
	cancel context.CancelFunc
	addr   string
	rdb    redis.UniversalClient
	client *jobs.Client
}

func newInstallation(t *testing.T, addr string) *installation {
	t.Helper()
	rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: addr})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, 5*time.Minute))
	in := &installation{t: t, ctx: ctx, cancel: cancel, addr: addr, rdb: rdb, client: jobs.NewClient(rdb, jobs.ClientOptions{})}
	t.Cleanup(func() {
		cancel()
		require.NoError(t, in.client.Close())
		require.NoError(t, rdb.Close())
	})
	return in
}

// bound is how long a test waits for what takes seconds at most.
func (in *installation) bound() time.Duration { return testenv.Scale(in.t, time.Minute) }

func (in *installation) eventually(holds func() bool, what string, args ...any) {
	in.t.Helper()
	require.Eventually(in.t, holds, in.bound(), 20*time.Millisecond, append([]any{what}, args...)...)
}

// process is a process of one worker.
type process struct {
	*scale.Process
	in  *installation
	log bytes.Buffer
}

// start starts a worker and does not wait until it takes jobs.
func (in *installation) start(slots int) *process {
	in.t.Helper()
	p := &process{in: in}
	var err error
	p.Process, err = scale.StartWorkers(scale.Workers{Redis: in.addr, Count: 1, Slots: slots, Grace: 30 * time.Second}, &p.log)
	require.NoError(in.t, err)
	in.t.Cleanup(func() {
		p.Kill()
		if in.t.Failed() {
			in.t.Logf("worker:\n%s", p.log.String())
		}
	})
	return p
}

func (p *process) counts() scale.WorkerCounts {
	p.in.t.Helper()
	var counts scale.Counts
	require.NoError(p.in.t, p.Ask(&counts))
	require.Len(p.in.t, counts.Workers, 1)
	return counts.Workers[0]
}

// waitForWork waits until the worker has begun so many jobs.
func (p *process) waitForWork(jobs int64) {
	p.in.t.Helper()
	p.in.eventually(func() bool { return p.counts().Started >= jobs }, "a worker begins %d jobs", jobs)
}

// signal ends the process with a signal and returns its exit code, -1 when the signal killed it.
func (p *process) signal(signal syscall.Signal) int {
	p.in.t.Helper()
	require.NoError(p.in.t, p.Signal(signal))
	select {
	case <-p.Ended():
	case <-time.After(p.in.bound()):
		require.FailNow(p.in.t, "a worker did not end", "after %s", signal)
	}
	return p.ExitCode()
}

// load is a number of producers that each submit a job, await it and submit the next one.
type load struct {
	in       *installation
	stop     chan struct{}
	running  sync.WaitGroup
	finished atomic.Int64

	mu      sync.Mutex
	records map[string]jobs.Record
	errs    []error
}

// keepBusy starts producers whose jobs go through all queues in turn. What is confirmed is only known of jobs whose
// Submit returned without an error; until then a producer submits the same job again, as it should.
func (in *installation) keepBusy(producers int, sleep time.Duration) *load {
	l := &load{in: in, stop: make(chan struct{}), records: map[string]jobs.Record{}}
	for producer := range producers {
		l.running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				default:
				}
				l.one(jobs.Job{ID: fmt.Sprintf("load-%d-%d", producer, n), Queue: jobs.Queues()[(producer+n)%3], Program: scale.Sleep(sleep)})
			}
		})
	}
	in.t.Cleanup(func() {
		if in.t.Failed() {
			in.cancel() // its jobs may never end
		}
		l.end()
	})
	return l
}

func (l *load) one(job jobs.Job) {
	err := submit(l.in.ctx, l.in.client, job)
	var record jobs.Record
	if err == nil {
		record, err = l.in.client.Await(l.in.ctx, job.ID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	l.records[job.ID] = record
	l.finished.Add(1)
}

// submit repeats a submission until it is accepted, which is safe because the job has an id.
func submit(ctx context.Context, client *jobs.Client, job jobs.Job) error {
	for {
		_, err := client.Submit(ctx, job)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("submit until it is accepted: %w", err)
		}
	}
}

// waitFor waits until so many more jobs have their result.
func (l *load) waitFor(more int64) {
	l.in.t.Helper()
	wanted := l.finished.Load() + more
	l.in.eventually(func() bool { return l.finished.Load() >= wanted }, "%d more jobs end", more)
}

// end lets the producers await their last jobs and returns all records.
func (l *load) end() map[string]jobs.Record {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.running.Wait()
	return l.records
}

// requireOneResultEach checks records: each job ended well, with one attempt that gave its result, and what
// went before it was the loss of a worker. It returns the number of jobs that were begun more than once.
func requireOneResultEach(t *testing.T, records map[string]jobs.Record) (again int) {
	t.Helper()
	for id, record := range records {
		require.True(t, record.Result.OK, "job %s: %+v", id, record)
		last := len(record.Attempts) - 1
		require.GreaterOrEqual(t, last, 0, id)
		require.Equal(t, fmt.Sprintf("%s %d\n", id, record.Attempts[last].Number), string(record.Result.Stdout.Data))
		require.Empty(t, record.Attempts[last].Error, id)
		for _, attempt := range record.Attempts[:last] {
			require.Equal(t, "worker lost", attempt.Error, id)
		}
		if last > 0 {
			again++
		}
	}
	return again
}

// requireNothingLeft checks that nothing waits or runs and that so many workers are there.
func (in *installation) requireNothingLeft(workers int) {
	in.t.Helper()
	in.requireStats(workers, func(queue jobs.QueueStats) int64 { return queue.Pending + queue.Running + queue.Retry + queue.Dead })
}

// requireNothingWaits is requireNothingLeft where a worker was killed or Redis has forgotten something: asynq takes two
// minutes to find out that nobody has the tasks of that time, and lists them as running until then.
func (in *installation) requireNothingWaits(workers int) {
	in.t.Helper()
	in.requireStats(workers, func(queue jobs.QueueStats) int64 { return queue.Pending + queue.Dead })
}

// requireStats waits until nothing of each queue counts, no worker runs a job and so many workers are there.
func (in *installation) requireStats(workers int, count func(jobs.QueueStats) int64) {
	in.t.Helper()
	var stats jobs.Stats
	defer func() {
		if in.t.Failed() {
			in.t.Logf("the last statistics: %+v", stats)
		}
	}()
	in.eventually(func() bool {
		var err error
		if stats, err = in.client.Stats(in.ctx); err != nil || len(stats.Workers) != workers {
			return false
		}
		for _, queue := range stats.Queues {
			if count(queue) > 0 {
				return false
			}
		}
		for _, worker := range stats.Workers {
			if worker.Running > 0 {
				return false
			}
		}
		return true
	}, "nothing waits or runs and there are %d workers", workers)
}
