package toolbox

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestMain(m *testing.M) {
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	// A closed client whose server is gone looks once more after a second, and then ends.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// fakeJobs is a queue on which one job at a time can be waited for.
type fakeJobs struct {
	submitErr, statusErr error
	workers              []jobs.WorkerInfo
	// pieces come to whoever follows, done to whoever awaits.
	pieces []sandbox.Output
	done   chan awaited
	// onCancel is what becomes of a job that is canceled; nil is nothing.
	onCancel func(f *fakeJobs)

	mu        sync.Mutex
	status    jobs.Status
	submitted []jobs.Job
	canceled  []string
}

func newFakeJobs() *fakeJobs {
	return &fakeJobs{done: make(chan awaited, 1), status: jobs.Status{State: jobs.Queued, Tenant: "alice"}, workers: []jobs.WorkerInfo{{ID: "w"}}}
}

func (f *fakeJobs) Submit(ctx context.Context, job jobs.Job) (jobs.Submission, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.submitErr != nil {
		return jobs.Submission{}, f.submitErr
	}
	f.submitted = append(f.submitted, job)
	return jobs.Submission{ID: jobs.KeyedID(job.Tenant, job.IdempotencyKey)}, ctx.Err()
}

func (f *fakeJobs) Status(_ context.Context, id string) (jobs.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	status := f.status
	status.ID = id
	return status, f.statusErr
}

func (f *fakeJobs) Await(ctx context.Context, _ string) (jobs.Record, error) {
	select {
	case a := <-f.done:
		return a.record, a.err
	case <-ctx.Done():
		return jobs.Record{}, ctx.Err()
	}
}

func (f *fakeJobs) Follow(ctx context.Context, _ string, emit func(sandbox.Output)) error {
	for _, piece := range f.pieces {
		emit(piece)
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *fakeJobs) Cancel(_ context.Context, id string) (jobs.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.canceled = append(f.canceled, id)
	if f.onCancel != nil {
		f.onCancel(f)
	}
	return f.status, nil
}

func (f *fakeJobs) Stats(context.Context) (jobs.Stats, error) {
	return jobs.Stats{Workers: f.workers}, nil
}

// set changes where the job is.
func (f *fakeJobs) set(state jobs.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.State = state
}

// finish ends the job.
func (f *fakeJobs) finish(result sandbox.Result) {
	f.done <- awaited{record: jobs.Record{Result: result}}
}

func canceledWith(stdout string) func(*fakeJobs) {
	return func(f *fakeJobs) {
		f.finish(sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1, Stdout: text(stdout)})
	}
}

func text(s string) sandbox.Stream {
	return sandbox.Stream{Data: sandbox.Bytes(s), Total: int64(len(s))}
}

func ok(stdout string) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Stdout: text(stdout)}
}

// fakeWorkspace holds the files of one session.
type fakeWorkspace struct {
	err      error
	mu       sync.Mutex
	sessions []workspace.Session
	contents []sandbox.File
}

func (f *fakeWorkspace) Files(_ context.Context, session workspace.Session) ([]sandbox.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions = append(f.sessions, session)
	return f.contents, f.err
}

func (f *fakeWorkspace) Write(_ context.Context, session workspace.Session, write []sandbox.File, deleted []string, _ time.Duration) (workspace.Head, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return workspace.Head{}, f.err
	}
	f.sessions = append(f.sessions, session)
	f.contents = workspace.Apply(f.contents, write, deleted)
	return workspace.Head{}, nil
}

func languages(t testing.TB) *sandbox.Languages {
	t.Helper()
	table, err := config.Default().Languages()
	require.NoError(t, err)
	return table
}

// setup makes a Toolbox on a fake queue, without a session unless changed.
func setup(t testing.TB, change ...func(*Options)) (*Toolbox, *fakeJobs) {
	t.Helper()
	queue := newFakeJobs()
	options := Options{Jobs: queue, Languages: languages(t), Tenant: "alice"}
	for _, c := range change {
		c(&options)
	}
	return New(options), queue
}

// inSession gives the Toolbox a session with these files.
func inSession(files ...sandbox.File) func(*Options) {
	return func(o *Options) {
		o.Session, o.Live, o.Workspace = "s1", true, &fakeWorkspace{contents: files}
	}
}

// call calls a tool with arguments that are JSON or become it.
func call(t testing.TB, tools agent.Tools, name string, arguments any, progress func(agent.Progress)) agent.ToolResult {
	t.Helper()
	return callWithin(t.Context(), t, tools, name, arguments, progress)
}

func callWithin(ctx context.Context, t testing.TB, tools agent.Tools, name string, arguments any, progress func(agent.Progress)) agent.ToolResult {
	t.Helper()
	raw, isText := arguments.(string)
	if !isText {
		data, err := json.Marshal(arguments)
		require.NoError(t, err)
		raw = string(data)
	}
	result := tools.Call(ctx, agent.ToolCall{ID: "c1", Name: name, Arguments: raw}, progress)
	require.Equal(t, "c1", result.CallID)
	require.Equal(t, name, result.Name)
	return result
}

// object is arguments of a call.
type object = map[string]any
