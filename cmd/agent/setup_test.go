package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
	"github.com/sandloop/sandloop/internal/workspace"
)

// patience bounds every wait for another goroutine on a busy machine.
const patience = 30 * time.Second

// fakeSessions does what a test says instead of running programs.
type fakeSessions struct {
	run func(context.Context, jobs.SessionJob) (sandbox.Result, *workspace.Report, error)

	mu   sync.Mutex
	seen []jobs.SessionJob
}

func (s *fakeSessions) Run(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
	s.mu.Lock()
	s.seen = append(s.seen, job)
	s.mu.Unlock()
	return s.run(ctx, job)
}

// all returns the jobs that came.
func (s *fakeSessions) all() []jobs.SessionJob {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]jobs.SessionJob(nil), s.seen...)
}

// noRunner is for a worker all of whose jobs belong to sessions.
type noRunner struct{}

func (noRunner) Run(context.Context, sandbox.Program) (sandbox.Result, error) {
	panic("a job without a session came")
}

func (noRunner) KillOlder(context.Context, string, int) error { return nil }

// bench is a queue in a real Redis with a worker whose sessions are a fake, an environment, and a folder to work in.
type bench struct {
	redis    string
	rdb      redis.UniversalClient
	store    *workspace.Store
	dir      string
	sessions *fakeSessions
	env      map[string]string
}

// setup makes a bench. do becomes what the worker does with a job.
func setup(t *testing.T, do func(context.Context, jobs.SessionJob) (sandbox.Result, *workspace.Report, error)) *bench {
	t.Helper()
	b := setupWithoutWorker(t)
	b.sessions = &fakeSessions{run: do}
	worker, err := jobs.NewWorker(jobs.WorkerOptions{Redis: b.rdb, Runner: noRunner{}, Sessions: b.sessions, Concurrency: 4})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	client := jobs.NewClient(b.rdb, jobs.ClientOptions{})
	require.Eventually(t, func() bool {
		stats, err := client.Stats(t.Context())
		return err == nil && len(stats.Workers) == 1
	}, patience, 10*time.Millisecond)
	require.NoError(t, client.Close())
	return b
}

func setupWithoutWorker(t *testing.T) *bench {
	t.Helper()
	addr := testenv.RedisServer(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return &bench{redis: addr, rdb: rdb, store: workspace.New(rdb, workspace.Options{}), dir: t.TempDir(), env: map[string]string{}}
}

// file writes a file into the folder and returns its path.
func (b *bench) file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// ran is what a command line did.
type ran struct {
	stdout, stderr string
	code           int
}

// agent runs a command line with an empty configuration.
func (b *bench) agent(t *testing.T, args ...string) ran {
	t.Helper()
	return b.agentWith(t.Context(), t, "", args...)
}

func (b *bench) agentWith(ctx context.Context, t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	err := run(ctx, b.line(args), b.getenv, strings.NewReader(stdin), &stdout, &stderr)
	cli.Report(&stderr, programName, err)
	return ran{stdout.String(), stderr.String(), cli.ExitCode(err)}
}

// line is a command line that reaches the bench's Redis.
func (b *bench) line(args []string) []string {
	global := []string{"--config", os.DevNull}
	if b.redis != "" {
		global = append(global, "--redis", b.redis)
	}
	return append(global, args...)
}

func (b *bench) getenv(name string) string { return b.env[name] }

// names lists the sessions that there are.
func (b *bench) names(t *testing.T) (names []string) {
	t.Helper()
	heads, err := b.store.List(t.Context(), "")
	require.NoError(t, err)
	for _, head := range heads {
		names = append(names, head.Name)
	}
	return names
}

// write is what a fake job leaves in its session.
func (b *bench) write(ctx context.Context, job jobs.SessionJob, path, content string) error {
	_, err := b.store.Write(ctx, workspace.Session{Tenant: job.Tenant, Name: job.Session.Name},
		[]sandbox.File{{Path: path, Data: sandbox.Bytes(content)}}, nil, patience)
	return err
}

// prints is a job whose program prints something and succeeds.
func prints(stdout string) func(context.Context, jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
	return func(_ context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		return okay(stdout), reported(job), nil
	}
}

// reported is what a job without changes does to its session.
func reported(job jobs.SessionJob) *workspace.Report {
	if job.Session.Live {
		return &workspace.Report{Live: &workspace.LiveReport{}}
	}
	return &workspace.Report{}
}

func okay(stdout string) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Stdout: sandbox.NewStream([]byte(stdout), nil, int64(len(stdout)))}
}

// untilCanceled is a job that runs until somebody cancels it, and tells when it has begun.
func untilCanceled(began chan<- struct{}) func(context.Context, jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
	return func(ctx context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
		job.Program.OnOutput(sandbox.Output{Step: "run", Stream: sandbox.Stdout, Data: sandbox.Bytes("partial\n")})
		began <- struct{}{}
		<-ctx.Done()
		result := sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1, Stdout: okay("partial\n").Stdout}
		return result, reported(job), nil
	}
}

// load reads a transcript.
func load(t *testing.T, path string) *agent.Transcript {
	t.Helper()
	transcript, err := agent.LoadTranscript(path)
	require.NoError(t, err)
	return transcript
}

// oneCall is a script with one call of run_code and an answer.
const oneCall = `
task: Multiply six by seven.
turns:
  - say: I let Python do it.
    calls: [{tool: run_code, arguments: {language: python, code: print(6*7)}}]
  - expect: ["42"]
    say: It is 42.
`
