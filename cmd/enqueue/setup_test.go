package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/embedded"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMain(m *testing.M) {
	// go-redis looks once a second whether a pool without connections is closed by now.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// patience bounds every wait for another goroutine on a busy machine.
const patience = 20 * time.Second

// fakeRunner does what a test says instead of running programs.
type fakeRunner struct {
	mu   sync.Mutex
	run  func(context.Context, sandbox.Program) (sandbox.Result, error)
	seen []sandbox.Program
}

func (r *fakeRunner) Run(ctx context.Context, p sandbox.Program) (sandbox.Result, error) {
	r.mu.Lock()
	r.seen = append(r.seen, p)
	run := r.run
	r.mu.Unlock()
	return run(ctx, p)
}

func (r *fakeRunner) KillOlder(context.Context, string, int) error { return nil }

// last returns the program that came last.
func (r *fakeRunner) last(t *testing.T) sandbox.Program {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.seen)
	return r.seen[len(r.seen)-1]
}

// bench is a queue with a worker whose runner is a fake, and a folder to work in.
type bench struct {
	redis  string
	dir    string
	runner *fakeRunner
}

// setup makes a bench. do becomes what the runner does.
func setup(t *testing.T, do func(context.Context, sandbox.Program) (sandbox.Result, error)) *bench {
	t.Helper()
	b := setupWithoutWorker(t)
	b.runner = &fakeRunner{run: do}
	b.serve(t, jobs.WorkerOptions{Runner: b.runner})
	return b
}

// serve runs a worker of four slots with these options until the test's end.
func (b *bench) serve(t *testing.T, options jobs.WorkerOptions) {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: b.redis})
	options.Redis, options.Concurrency = rdb, 4
	worker, err := jobs.NewWorker(options)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, rdb.Close())
	})
}

func setupWithoutWorker(t *testing.T) *bench {
	t.Helper()
	server, err := embedded.Start(context.Background(), "127.0.0.1:0", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return &bench{redis: server.Addr(), dir: t.TempDir()}
}

// file writes a file into the folder and returns its path.
func (b *bench) file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// ran is what a command line did.
type ran struct {
	stdout, stderr string
	code           int
}

// enqueue runs a command line with an empty configuration.
func (b *bench) enqueue(t *testing.T, args ...string) ran {
	t.Helper()
	return b.enqueueWith(t.Context(), t, "", args...)
}

func (b *bench) enqueueWith(ctx context.Context, t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	global := []string{"--config", os.DevNull}
	if b.redis != "" {
		global = append(global, "--redis", b.redis)
	}
	args = append(global, args...)
	err := run(ctx, args, strings.NewReader(stdin), &stdout, &stderr)
	report(&stderr, err)
	return ran{stdout.String(), stderr.String(), exitCode(err)}
}

// gives is a runner whose every program has the same result.
func gives(result sandbox.Result) func(context.Context, sandbox.Program) (sandbox.Result, error) {
	return func(context.Context, sandbox.Program) (sandbox.Result, error) { return result, nil }
}

func okay(stdout string) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Stdout: stream(stdout)}
}

func decode[T any](t *testing.T, line string) (value T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(line), &value), line)
	return value
}
