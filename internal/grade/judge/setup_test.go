package judge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// behavior is what a program does in the fake runner.
type behavior struct {
	// whole, if not nil, is the result before any test, and err what follows the first failAfter tests.
	whole     *sandbox.Result
	err       error
	failAfter int
	// run is one test. It returns early when ctx ends.
	run func(ctx context.Context, test sandbox.Test) sandbox.TestResult
}

// fakeRunner runs programs that are Go functions, by their source.
type fakeRunner struct {
	mu       sync.Mutex
	programs map[string]behavior
	// started counts the series of each program, and open those that have not ended.
	started, open map[string]int
	given         map[string][]sandbox.Test
	limits        map[string]sandbox.Overrides
	// tenants are those on whose behalf each program was started.
	tenants map[string][]string
}

func newFakeRunner() *fakeRunner {
	return &fakeRunner{
		programs: map[string]behavior{}, started: map[string]int{}, open: map[string]int{},
		given: map[string][]sandbox.Test{}, limits: map[string]sandbox.Overrides{}, tenants: map[string][]string{},
	}
}

func (f *fakeRunner) RunTests(
	ctx context.Context, p sandbox.Program, next func(*sandbox.TestResult) (sandbox.Test, bool),
) (sandbox.Result, error) {
	name := string(p.Source)
	f.mu.Lock()
	does, known := f.programs[name]
	f.started[name]++
	f.open[name]++
	f.limits[name] = p.Limits
	f.tenants[name] = append(f.tenants[name], p.Tenant)
	f.mu.Unlock()
	defer f.count(f.open, name, -1)
	if !known {
		return sandbox.Result{}, fmt.Errorf("no program %q", name)
	}
	if does.whole != nil {
		return *does.whole, nil
	}
	var previous *sandbox.TestResult
	for ran := 0; ; ran++ {
		test, more := next(previous)
		if result, err, over := ended(ctx); over {
			return result, err
		}
		if !more {
			return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true}, nil
		}
		if does.err != nil && ran == does.failAfter {
			return sandbox.Result{}, does.err
		}
		f.mu.Lock()
		f.given[name] = append(f.given[name], test)
		f.mu.Unlock()
		result := does.run(ctx, test)
		if test.Talk != nil {
			_ = test.Talk.Output.Close()
		}
		if result, err, over := ended(ctx); over {
			return result, err
		}
		result.ID = test.ID
		previous = &result
	}
}

func ended(ctx context.Context) (sandbox.Result, error, bool) { //nolint:revive // whether is the last
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return sandbox.Result{}, nil, false
	case errors.Is(cause, sandbox.ErrCanceled):
		return sandbox.Result{Outcome: sandbox.OutcomeCanceled, ExitCode: -1}, nil, true
	default:
		return sandbox.Result{}, cause, true
	}
}

func (f *fakeRunner) count(counts map[string]int, name string, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts[name] += by
}

func (f *fakeRunner) startedOf(name string) int { return f.get(f.started, name) }
func (f *fakeRunner) openOf(name string) int    { return f.get(f.open, name) }

func (f *fakeRunner) get(counts map[string]int, name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return counts[name]
}

// ids are the tests that the program was given.
func (f *fakeRunner) ids(name string) (ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, test := range f.given[name] {
		ids = append(ids, test.ID)
	}
	return ids
}

// fakeBlobs are blobs by id.
type fakeBlobs struct {
	content map[string][]byte
	err     error
	asked   []string
}

func (b *fakeBlobs) Get(_ context.Context, id string) ([]byte, error) {
	b.asked = append(b.asked, id)
	content, found := b.content[id]
	if !found {
		return nil, errors.Join(b.err, fmt.Errorf("no blob %.8s", id))
	}
	return content, nil
}

// put stores content and returns data that names it.
func (b *fakeBlobs) put(content string) grade.Data {
	id := grade.BlobID([]byte(content))
	b.content[id] = []byte(content)
	return grade.Data{Blob: id, Size: int64(len(content))}
}

// bundle is a judge over fakes.
type bundle struct {
	*Judge
	runner *fakeRunner
	blobs  *fakeBlobs
}

func setup(t testing.TB, change ...func(*Options)) *bundle {
	t.Helper()
	runner, blobs := newFakeRunner(), &fakeBlobs{content: map[string][]byte{}}
	options := Options{Runner: runner, Blobs: blobs, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&options)
	}
	b := &bundle{New(options), runner, blobs}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, b.Close(ctx))
		for name := range runner.open {
			require.Zero(t, runner.openOf(name), "series of %q are left", name)
		}
	})
	return b
}

// program makes the fake run a program of this name.
func (b *bundle) program(name string, run func(sandbox.Test) sandbox.TestResult) sandbox.Program {
	return b.behaves(name, behavior{run: func(_ context.Context, test sandbox.Test) sandbox.TestResult { return run(test) }})
}

func (b *bundle) behaves(name string, does behavior) sandbox.Program {
	b.runner.mu.Lock()
	defer b.runner.mu.Unlock()
	b.runner.programs[name] = does
	return sandbox.Program{Language: "fake", Source: sandbox.Bytes(name)}
}

// judged judges a submission that must get a report.
func (b *bundle) judged(t testing.TB, p sandbox.Program, task grade.Task) *grade.Report {
	t.Helper()
	_, report, err := b.Judge.Judge(t.Context(), p, task)
	require.NoError(t, err)
	require.NotNil(t, report)
	return report
}

// printed is the result of a program that prints text and ends well.
func printed(text string) sandbox.TestResult {
	return sandbox.TestResult{Outcome: sandbox.OutcomeOK, OK: true, Stdout: stream(text)}
}

// exited is the result of a program that prints text and ends with a code other than 0.
func exited(code int, stdout, stderr string) sandbox.TestResult {
	return sandbox.TestResult{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: code, Stdout: stream(stdout), Stderr: stream(stderr)}
}

func stream(text string) sandbox.Stream {
	return sandbox.NewStream([]byte(text), nil, int64(len(text)))
}

func echo(test sandbox.Test) sandbox.TestResult { return printed(string(test.Stdin)) }

func inline(text string) grade.Data { return grade.Data{Inline: sandbox.Bytes(text)} }

// numbered is a suite of tests 1 to n, each of which has its number as input and answer.
func numbered(n int) *grade.Suite {
	suite := &grade.Suite{Name: "numbers"}
	for i := 1; i <= n; i++ {
		text := inline(fmt.Sprint(i))
		suite.Tests = append(suite.Tests, grade.Test{Name: fmt.Sprint(i), Input: text, Answer: text})
	}
	return suite
}

// verdicts are the names and verdicts of a report's tests.
func verdicts(report *grade.Report) string {
	text := ""
	for _, test := range report.Tests {
		text += fmt.Sprintf("%s=%s ", test.Name, test.Verdict)
	}
	return text
}

func ptr[T any](value T) *T { return &value }
