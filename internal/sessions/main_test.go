package sessions

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestMain(m *testing.M) {
	// go-redis looks once a second whether a pool without connections is closed by now.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// bundle is Sessions of one worker on a Redis of the test's own. Programs are run by functions of the test.
type bundle struct {
	*Sessions
	t     testing.TB
	rdb   *redis.Client
	store *workspace.Store
	run   runFunc
	// alive are the workers that have a heartbeat.
	alive   map[string]bool
	started sync.Mutex
	// interpreters are all that were started, in order.
	interpreters []*interpreter
	startError   error
}

// runFunc stands for a container: it gets the files in /workspace and changes them.
type runFunc func(ctx context.Context, program sandbox.Program, files map[string]string) (sandbox.Result, error)

func setup(t testing.TB, change ...func(*Options)) *bundle {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: testenv.RedisServer(t)})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return setupOn(t, rdb, "here", change...)
}

func setupOn(t testing.TB, rdb *redis.Client, worker string, change ...func(*Options)) *bundle {
	t.Helper()
	languages, err := config.Default().Languages()
	require.NoError(t, err)
	b := &bundle{t: t, rdb: rdb, alive: map[string]bool{worker: true}}
	options := Options{
		Worker: worker, Quota: 1 << 20, MaxFiles: 50, Runner: runner(b.runProgram), Start: b.start, Languages: languages,
		Defaults: sandbox.DefaultLimits(), Maxima: sandbox.DefaultMaxima(),
		Live: 2, IdleTimeout: time.Hour, AbsoluteTimeout: 2 * time.Hour,
		Alive: func(context.Context, ...string) (map[string]bool, error) { return b.alive, nil },
	}
	for _, change := range change {
		change(&options)
	}
	b.store = workspace.New(rdb, workspace.Options{Quota: options.Quota, MaxFiles: options.MaxFiles})
	options.Store = b.store
	b.Sessions = New(options)
	t.Cleanup(func() { b.Close(context.Background()) })
	return b
}

// runner is a Runner.
type runner func(ctx context.Context, program sandbox.Program) (sandbox.Result, error)

func (r runner) Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	return r(ctx, program)
}

func (b *bundle) runProgram(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	prepared, err := b.options.Languages.Prepare(program, b.options.Defaults, b.options.Maxima)
	if err != nil {
		return rejected(err), nil
	}
	files := map[string]string{}
	for _, file := range prepared.Files {
		files[file.Path] = string(file.Data)
	}
	result, err := b.run(ctx, program, files)
	if result.Outcome == "" {
		result.Outcome, result.OK, result.Collected = sandbox.OutcomeOK, true, true
	}
	if result.Collected {
		result.Files = list(files)
	}
	return result, err
}

// list makes files of texts.
func list(texts map[string]string) (files []sandbox.File) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, sandbox.File{Path: name, Data: []byte(texts[name])})
	}
	return files
}

// job is a job of session s with a program in Python.
func job(id string, change ...func(*jobs.SessionJob)) jobs.SessionJob {
	j := jobs.SessionJob{
		ID: id, Attempt: 1, Tenant: "tenant", Session: jobs.Session{Name: "s"},
		Program: sandbox.Program{ID: id, Attempt: 1, Language: "python", Source: []byte("source of " + id)},
	}
	for _, change := range change {
		change(&j)
	}
	return j
}

var session = workspace.Session{Tenant: "tenant", Name: "s"}

// must runs a job that our machinery does not fail on.
func (b *bundle) must(j jobs.SessionJob) (sandbox.Result, *workspace.Report) {
	b.t.Helper()
	result, report, err := b.Run(b.t.Context(), j)
	require.NoError(b.t, err)
	return result, report
}

// files are those of the session.
func (b *bundle) files() map[string]string {
	b.t.Helper()
	files, err := b.store.Files(b.t.Context(), session)
	if errors.Is(err, workspace.ErrNotFound) {
		return nil
	}
	require.NoError(b.t, err)
	return texts(files)
}

func texts(files []sandbox.File) map[string]string {
	texts := map[string]string{}
	for _, file := range files {
		texts[file.Path] = string(file.Data)
		if file.Executable {
			texts[file.Path] += " (executable)"
		}
	}
	return texts
}

// has puts files into the session.
func (b *bundle) has(ctx context.Context, texts map[string]string) {
	b.t.Helper()
	_, err := b.store.Write(ctx, session, list(texts), nil, time.Second)
	require.NoError(b.t, err)
}
