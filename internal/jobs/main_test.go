package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(workerProcessEnv); addr != "" {
		workerProcess(addr)
		return
	}
	LogRedis(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// bound is how long a test waits for what must happen.
const bound = 30 * time.Second

// bundle is a Redis with what a test needs to use it.
type bundle struct {
	t      testing.TB
	ctx    context.Context
	addr   string
	rdb    redis.UniversalClient
	client *Client
}

// setup starts a Redis of the test's own.
func setup(t testing.TB, args ...string) *bundle {
	t.Helper()
	return connect(t, testenv.RedisServer(t, args...))
}

// setupMini starts a Redis within the process.
func setupMini(t testing.TB) *bundle {
	t.Helper()
	server := miniredis.RunT(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // without it nothing ever expires
		defer close(stopped)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				server.FastForward(100 * time.Millisecond)
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	return connect(t, server.Addr())
}

// both runs a test against either kind of Redis.
func both(t *testing.T, test func(*testing.T, *bundle)) {
	t.Parallel()
	t.Run("redis-server", func(t *testing.T) { t.Parallel(); test(t, setup(t)) })
	t.Run("miniredis", func(t *testing.T) { t.Parallel(); test(t, setupMini(t)) })
}

func connect(t testing.TB, addr string) *bundle {
	t.Helper()
	rdb, err := ConnectRedis(RedisOptions{Addr: addr})
	require.NoError(t, err)
	return bundleOf(t, addr, rdb)
}

func bundleOf(t testing.TB, addr string, rdb redis.UniversalClient) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	b := &bundle{t: t, ctx: ctx, addr: addr, rdb: rdb, client: NewClient(rdb, ClientOptions{Log: testLog(t)})}
	t.Cleanup(func() {
		require.NoError(t, b.client.Close())
		require.NoError(t, rdb.Close())
		cancel()
	})
	return b
}

// testLog logs nothing unless asked to, for a log after a test's end panics.
func testLog(testing.TB) *slog.Logger {
	if os.Getenv("JOBS_TEST_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// job is a valid job; the source tells jobs apart.
func job(source string) Job {
	return Job{Tenant: "alice", Program: sandbox.Program{Language: "python", Source: sandbox.Bytes(source)}}
}

// packResult encodes a result as it is stored where nothing is sealed.
func packResult(result sandbox.Result) []byte {
	_, packed := ending{Result: result}.storable()
	return packed
}

func (b *bundle) submit(j Job) string {
	b.t.Helper()
	submission, err := b.client.Submit(b.ctx, j)
	require.NoError(b.t, err)
	return submission.ID
}

func (b *bundle) await(id string) Record {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, bound)
	defer cancel()
	record, err := b.client.Await(ctx, id)
	require.NoError(b.t, err)
	return record
}

// testWorker is a worker that runs until the test's end or stop.
type testWorker struct {
	*Worker
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
}

func (b *bundle) start(runner Runner, alter ...func(*WorkerOptions)) *testWorker {
	b.t.Helper()
	options := WorkerOptions{Redis: b.rdb, Runner: runner, Concurrency: 4, Log: testLog(b.t)}
	for _, change := range alter {
		change(&options)
	}
	worker, err := NewWorker(options)
	require.NoError(b.t, err)
	ctx, cancel := context.WithCancel(b.ctx)
	w := &testWorker{Worker: worker, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.err = worker.Run(ctx)
	}()
	b.t.Cleanup(func() { cancel(); <-w.ended })
	return w
}

// stop ends the worker in an orderly way.
func (w *testWorker) stop(t testing.TB) {
	t.Helper()
	w.cancel()
	receive(t, w.ended)
	require.NoError(t, w.err)
}

func receive[T any](t testing.TB, channel <-chan T) T {
	t.Helper()
	select {
	case value := <-channel:
		return value
	case <-time.After(bound):
		require.FailNow(t, "nothing came within "+bound.String())
		panic("unreachable")
	}
}

// eventually polls until a condition holds.
func eventually(t testing.TB, holds func() bool, what string) {
	t.Helper()
	require.Eventually(t, holds, bound, 5*time.Millisecond, what)
}

// run is a call of Runner.Run that the test answers.
type run struct {
	ctx     context.Context
	program sandbox.Program
	answer  chan answer
}

type answer struct {
	result sandbox.Result
	err    error
}

// fakeRunner hands every call to the test, and ends it as a runner must when its context ends.
type fakeRunner struct {
	runs chan *run

	mu     sync.Mutex
	killed []string
}

func newFakeRunner() *fakeRunner { return &fakeRunner{runs: make(chan *run, 64)} }

func (f *fakeRunner) Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	r := &run{ctx: ctx, program: program, answer: make(chan answer, 1)}
	f.runs <- r
	select {
	case a := <-r.answer:
		return a.result, a.err
	case <-ctx.Done():
		if context.Cause(ctx) == sandbox.ErrCanceled { //nolint:errorlint // the cause is the value itself
			return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1}, nil
		}
		return sandbox.Result{}, context.Cause(ctx)
	}
}

func (f *fakeRunner) KillOlder(_ context.Context, jobID string, attempt int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = append(f.killed, fmt.Sprintf("%s<%d", jobID, attempt))
	return nil
}

func (r *run) succeed(stdout string) { r.answer <- answer{result: okResult(stdout)} }

func okResult(stdout string) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Stdout: sandbox.NewStream([]byte(stdout), nil, int64(len(stdout)))}
}

// echoRunner succeeds at once with the source as output.
type echoRunner struct{}

func (echoRunner) Run(_ context.Context, program sandbox.Program) (sandbox.Result, error) {
	return okResult(string(program.Source)), nil
}

func (echoRunner) KillOlder(context.Context, string, int) error { return nil }
