package metrics

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/reaper"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
)

// scripted does what the source says: it is ok after 30 ms, exits with 3 after 2 s by its own account, fails
// once, fails always or waits until the test lets it go.
type scripted struct {
	mu     sync.Mutex
	failed map[string]bool
	held   chan struct{}
	let    chan struct{}
}

func (s *scripted) Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	ok := sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Duration: sandbox.Seconds(30 * time.Millisecond)}
	switch string(program.Source) {
	case "exit":
		return sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3, Duration: sandbox.Seconds(2 * time.Second)}, nil
	case "fail once":
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.failed[program.ID] {
			s.failed[program.ID] = true
			return sandbox.Result{}, errors.New("no daemon")
		}
	case "fail":
		return sandbox.Result{}, errors.New("no daemon")
	case "hold":
		s.held <- struct{}{}
		select {
		case <-s.let:
		case <-ctx.Done():
			return sandbox.Result{}, context.Cause(ctx)
		}
	}
	return ok, nil
}

func (s *scripted) KillOlder(context.Context, string, int) error { return nil }

// start runs a worker until the test is over.
func (b *bundle) start(t *testing.T, runner jobs.Runner) (stop func()) {
	t.Helper()
	w, err := jobs.NewWorker(jobs.WorkerOptions{
		ID: "worker-1", Redis: b.rdb, Runner: runner, Concurrency: 3, InteractiveSlots: 1, MaxAttempts: 2, Grace: bound,
		Observe: b.JobFinished, ObserveRecovery: b.WorkerRecovered,
	})
	require.NoError(t, err)
	b.WatchWorker(w)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	require.Eventually(t, w.Serving, testenv.Scale(t, bound), 5*time.Millisecond)
	return stop
}

// Six jobs of known ends through a real Redis, and every number that comes of them.
func TestJobsAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	runner := &scripted{failed: map[string]bool{}, held: make(chan struct{}), let: make(chan struct{})}
	stop := b.start(t, runner)
	b.run(t, jobs.Default, "python", "ok")
	b.run(t, jobs.Default, "python", "ok")
	b.run(t, jobs.Default, "c", "exit")
	b.run(t, jobs.Batch, "python", "fail once")
	b.run(t, jobs.Batch, "python", "fail")
	b.run(t, jobs.Interactive, "cobol", "ok")
	b.tells(t, []string{
		`sandloop_jobs_finished_total{language="c",outcome="nonzero_exit",queue="default"} 1`,
		`sandloop_jobs_finished_total{language="other",outcome="ok",queue="interactive"} 1`,
		`sandloop_jobs_finished_total{language="python",outcome="infra_error",queue="batch"} 1`,
		`sandloop_jobs_finished_total{language="python",outcome="ok",queue="batch"} 1`,
		`sandloop_jobs_finished_total{language="python",outcome="ok",queue="default"} 2`,
	}, "sandloop_jobs_finished_total")
	b.tells(t, []string{
		`sandloop_attempts_failed_total 3`, `sandloop_jobs_requeued_total 0`, `sandloop_results_dropped_total 0`,
	}, "sandloop_attempts_failed", "sandloop_results_dropped", "sandloop_jobs_requeued")
	b.tells(t, []string{
		`sandloop_job_run_seconds_bucket{queue="default",le="0.025"} 0`,
		`sandloop_job_run_seconds_bucket{queue="default",le="0.05"} 2`,
		`sandloop_job_run_seconds_bucket{queue="default",le="1"} 2`,
		`sandloop_job_run_seconds_bucket{queue="default",le="2.5"} 3`,
		`sandloop_job_run_seconds_sum{queue="default"} 2.06`,
	}, `sandloop_job_run_seconds_bucket{queue="default",le="0.025"}`, `sandloop_job_run_seconds_bucket{queue="default",le="0.05"}`,
		`sandloop_job_run_seconds_bucket{queue="default",le="1"}`, `sandloop_job_run_seconds_bucket{queue="default",le="2.5"}`,
		`sandloop_job_run_seconds_sum{queue="default"`)
	b.tells(t, []string{ // the one that was given up ran no program, and it took a slot
		`sandloop_job_run_seconds_count{queue="batch"} 1`, `sandloop_job_run_seconds_count{queue="default"} 3`, `sandloop_job_run_seconds_count{queue="interactive"} 1`,
		`sandloop_job_slot_seconds_count{queue="batch"} 2`, `sandloop_job_slot_seconds_count{queue="default"} 3`, `sandloop_job_slot_seconds_count{queue="interactive"} 1`,
	}, "sandloop_job_run_seconds_count", "sandloop_job_slot_seconds_count")
	b.tells(t, []string{
		`sandloop_job_queue_seconds_count{queue="batch"} 2`, `sandloop_job_queue_seconds_count{queue="default"} 3`, `sandloop_job_queue_seconds_count{queue="interactive"} 1`,
	}, "sandloop_job_queue_seconds_count")

	// Four jobs for three slots: one waits.
	for range 4 {
		_, err := b.client.Submit(t.Context(), jobs.Job{Program: sandbox.Program{Language: "python", Source: []byte("hold")}})
		require.NoError(t, err)
	}
	for range 3 {
		<-runner.held
	}
	b.tells(t, []string{
		`sandloop_queue_jobs{queue="batch",state="dead"} 1`, `sandloop_queue_jobs{queue="batch",state="retry"} 0`,
		`sandloop_queue_jobs{queue="batch",state="running"} 0`, `sandloop_queue_jobs{queue="batch",state="waiting"} 0`,
		`sandloop_queue_jobs{queue="default",state="dead"} 0`, `sandloop_queue_jobs{queue="default",state="retry"} 0`,
		`sandloop_queue_jobs{queue="default",state="running"} 3`, `sandloop_queue_jobs{queue="default",state="waiting"} 1`,
		`sandloop_queue_jobs{queue="interactive",state="dead"} 0`, `sandloop_queue_jobs{queue="interactive",state="retry"} 0`,
		`sandloop_queue_jobs{queue="interactive",state="running"} 0`, `sandloop_queue_jobs{queue="interactive",state="waiting"} 0`,
		`sandloop_queue_tenants{queue="batch"} 0`, `sandloop_queue_tenants{queue="default"} 1`, `sandloop_queue_tenants{queue="interactive"} 0`,
		`sandloop_redis_up 1`,
		`sandloop_slots{kind="interactive"} 1`, `sandloop_slots{kind="shared"} 3`,
		`sandloop_slots_busy{kind="interactive"} 0`, `sandloop_slots_busy{kind="shared"} 3`,
		`sandloop_worker_draining 0`, `sandloop_worker_info{worker="worker-1"} 1`, `sandloop_worker_paused 0`, `sandloop_workers 1`,
	}, "sandloop_queue_jobs", "sandloop_queue_tenants", "sandloop_redis_up", "sandloop_slots", "sandloop_worker_", "sandloop_workers ")
	b.tells(t, []string{
		`sandloop_queue_bytes{queue="batch"} 0`, `sandloop_queue_bytes{queue="interactive"} 0`,
		`sandloop_queue_oldest_seconds{queue="batch"} 0`, `sandloop_queue_oldest_seconds{queue="interactive"} 0`,
	}, `sandloop_queue_bytes{queue="batch"}`, `sandloop_queue_bytes{queue="interactive"}`,
		`sandloop_queue_oldest_seconds{queue="batch"}`, `sandloop_queue_oldest_seconds{queue="interactive"}`)
	require.Regexp(t, `\{queue="default"\} [1-9][0-9]+$`, b.scrape(t, `sandloop_queue_bytes{queue="default"}`)[0], "one job waits")
	require.Regexp(t, `\{queue="default"\} [0-9.e-]*[1-9]`, b.scrape(t, `sandloop_queue_oldest_seconds{queue="default"}`)[0])
	close(runner.let)
	<-runner.held
	stop()
	require.Equal(t, []string{"sandloop_worker_draining 1"}, b.scrape(t, "sandloop_worker_draining"))
	require.NotContains(t, fmt.Sprint(b.scrape(t, "")), "alice", "tenants are no labels")
}

func TestAScrapeWithoutRedisTellsTheRest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.End(syscall.SIGKILL)
	require.Equal(t, []string{"sandloop_redis_up 0"}, b.scrape(t, "sandloop_redis_up", "sandloop_queue_jobs", "sandloop_workers "))
	require.NotEmpty(t, b.scrape(t, "go_goroutines"))
	require.NotEmpty(t, b.scrape(t, "process_start_time_seconds"))
}

func TestFailuresOfRedisAreCountedByKind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.WatchRedis(b.rdb)
	ctx := t.Context()
	require.ErrorIs(t, b.rdb.Get(ctx, "absent").Err(), redis.Nil)
	require.Error(t, b.rdb.EvalSha(ctx, "0123456789012345678901234567890123456789", nil).Err())
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	require.Error(t, b.rdb.Get(canceled, "absent").Err())
	counts := func() []string { return b.scrape(t, "sandloop_redis_errors_total") }
	require.Equal(t, []string{
		`sandloop_redis_errors_total{kind="connection"} 0`, `sandloop_redis_errors_total{kind="reply"} 0`, `sandloop_redis_errors_total{kind="timeout"} 0`,
	}, counts(), "none of these is a failure")

	require.NoError(t, b.rdb.Set(ctx, "text", "a", 0).Err())
	require.Error(t, b.rdb.Incr(ctx, "text").Err())
	_, err := b.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Get(ctx, "absent")
		pipe.Incr(ctx, "text")
		pipe.Incr(ctx, "text")
		return nil
	})
	require.Error(t, err)
	require.Contains(t, counts(), `sandloop_redis_errors_total{kind="reply"} 2`, "a pipeline counts once")

	late, cancelLate := context.WithTimeout(ctx, time.Millisecond)
	defer cancelLate()
	require.Error(t, b.rdb.BLPop(late, 0, "absent").Err())
	require.Contains(t, counts(), `sandloop_redis_errors_total{kind="timeout"} 1`)

	b.server.End(syscall.SIGKILL)
	require.Error(t, b.rdb.Get(ctx, "text").Err())
	require.Contains(t, counts(), `sandloop_redis_errors_total{kind="connection"} 1`)
}

func TestContainersAndSweepsAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.WatchContainers(func() docker.Stats {
		return docker.Stats{WarmHits: 1, ColdStarts: 2, Adopted: 3, Reused: 4, Stale: 5, Open: 60, Warm: 7, Kept: 8}
	})
	b.ContainerStarted(docker.Start{Warm: true, Took: 300 * time.Millisecond})
	b.ContainerStarted(docker.Start{Took: 6 * time.Second})
	b.ContainerStarted(docker.Start{Took: 7 * time.Second, Err: errors.New("no space left")})
	b.Swept(reaper.Report{
		Removed: []reaper.Removed{{Reason: "expired"}, {Reason: "owner is dead"}, {Reason: "owner is dead"}}, Volumes: []string{"a", "b", "c"},
	}, nil)
	b.Swept(reaper.Report{Removed: []reaper.Removed{{Reason: "expired"}}}, errors.New("the rest stays"))
	b.WatchInterpreters(func() int { return 2 }, 4)
	require.Equal(t, []string{
		`sandloop_container_start_failures_total{start="cold"} 1`, `sandloop_container_start_failures_total{start="warm"} 0`,
		`sandloop_containers{state="busy"} 45`, `sandloop_containers{state="kept"} 8`, `sandloop_containers{state="warm"} 7`,
		`sandloop_containers_adopted_total 3`, `sandloop_containers_stale_total 5`,
		`sandloop_containers_taken_total{source="cold"} 2`, `sandloop_containers_taken_total{source="reused"} 4`, `sandloop_containers_taken_total{source="warm"} 1`,
		`sandloop_interpreters 2`, `sandloop_interpreters_limit 4`,
		`sandloop_reaper_removed_total{kind="expired"} 2`, `sandloop_reaper_removed_total{kind="orphaned"} 2`, `sandloop_reaper_removed_total{kind="volume"} 3`,
		`sandloop_reaper_sweeps_total{result="error"} 1`, `sandloop_reaper_sweeps_total{result="ok"} 1`,
	}, b.scrape(t, "sandloop_container_start_failures", "sandloop_containers", "sandloop_interpreters", "sandloop_reaper"))
	require.Equal(t, []string{
		`sandloop_container_start_seconds_sum{start="cold"} 6`, `sandloop_container_start_seconds_count{start="cold"} 1`,
		`sandloop_container_start_seconds_sum{start="warm"} 0.3`, `sandloop_container_start_seconds_count{start="warm"} 1`,
	}, b.scrape(t, "sandloop_container_start_seconds_sum", "sandloop_container_start_seconds_count"))
}

func TestARecoveryIsCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.start(t, &scripted{})
	require.NoError(t, b.rdb.SAdd(t.Context(), "sandloop:workers", "dead-worker").Err())
	b.tells(t, []string{"sandloop_recovery_seconds_count 1", "sandloop_workers_lost_total 1"}, "sandloop_recovery_seconds_count", "sandloop_workers_lost_total")
	require.Equal(t, []string{`sandloop_recovery_seconds_bucket{le="1"} 0`}, b.scrape(t, `sandloop_recovery_seconds_bucket{le="1"}`), "a heartbeat must be missing for 2 s")
}

func TestWhatABuildIsToldBy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lines := b.scrape(t, "sandloop_build_info")
	require.Len(t, lines, 1)
	require.Regexp(t, `^sandloop_build_info\{goversion="go1\..*",revision=".+",version=".+"\} 1$`, lines[0])
}

func TestMetricsAreNamedAsPrometheusWants(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.start(t, &scripted{})
	b.WatchContainers(func() docker.Stats { return docker.Stats{} })
	b.WatchInterpreters(func() int { return 0 }, 4)
	b.JobFinished(jobs.Observation{Queue: jobs.Default, Language: "c", Outcome: sandbox.OutcomeOK, Attempt: 1, RunTime: time.Second})
	problems, err := testutil.GatherAndLint(b.Gatherer())
	require.NoError(t, err)
	require.Empty(t, problems)
}
