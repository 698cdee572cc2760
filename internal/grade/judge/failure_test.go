package judge

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

var errBroken = errors.New("daemon gone")

func TestOurFailuresAreErrors(t *testing.T) {
	t.Parallel()
	gone := grade.Data{Blob: grade.BlobID([]byte("gone")), Size: 4}
	for name, tt := range map[string]struct {
		runner error
		change func(*grade.Task)
		want   string
	}{
		"runner":  {errBroken, func(*grade.Task) {}, "judge: daemon gone"},
		"suite":   {nil, func(task *grade.Task) { task.Suite, task.SuiteBlob = nil, gone.Blob }, "judge: get suite: daemon gone"},
		"input":   {nil, func(task *grade.Task) { task.Suite.Tests[1].Input = gone }, `judge: start test "2": get input: daemon gone`},
		"answer":  {nil, func(task *grade.Task) { task.Suite.Tests[1].Answer = gone }, `judge: check test "2": get answer: daemon gone`},
		"a file":  {nil, func(task *grade.Task) { task.Suite.Tests[0].Files = []grade.DataFile{{Path: "x", Data: gone}} }, `judge: start test "1": get file "x": daemon gone`},
		"outcome": {nil, nil, "judge: the runner ended a series of tests with the outcome infra_error: lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.blobs.err = errBroken
			does := behavior{err: tt.runner, failAfter: 1, run: func(_ context.Context, test sandbox.Test) sandbox.TestResult { return echo(test) }}
			task := grade.Task{Suite: numbered(2)}
			if tt.change != nil {
				tt.change(&task)
			} else {
				does.whole = &sandbox.Result{Outcome: sandbox.OutcomeInfraError, Message: "lost"}
			}
			_, report, err := b.Judge.Judge(t.Context(), b.behaves("p", does), task)
			require.ErrorContains(t, err, tt.want)
			if tt.change != nil {
				require.ErrorIs(t, err, errBroken)
			}
			require.Nil(t, report)
		})
	}
}

func TestACanceledJobHasAResultAndNoReport(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{"while a test runs": "2", "between tests": "check 2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, cause := range []error{sandbox.ErrCanceled, errBroken} {
				b := setup(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				p := b.program("p", func(test sandbox.Test) sandbox.TestResult {
					if test.ID == where {
						cancel(cause)
					}
					return echo(test)
				})
				validator := b.program("v", func(test sandbox.Test) sandbox.TestResult {
					if "check "+test.ID == where {
						cancel(cause)
					}
					return exited(42, "", "")
				})
				suite := numbered(3)
				suite.Checker = grade.Checker{Kind: grade.CheckValidator, Programs: []sandbox.Program{validator}}
				result, report, err := b.Judge.Judge(ctx, p, grade.Task{Suite: suite})
				require.Nil(t, report)
				require.Equal(t, []string{"1", "2"}, b.runner.ids("p"))
				if errors.Is(cause, sandbox.ErrCanceled) {
					require.NoError(t, err)
					require.Equal(t, sandbox.OutcomeCanceled, result.Outcome)
					require.Equal(t, -1, result.ExitCode)
				} else {
					require.ErrorIs(t, err, cause)
				}
				cancel(nil)
			}
		})
	}
}

func TestARejectedTestIsNotTheSubmissionsFault(t *testing.T) {
	t.Parallel()
	b := setup(t)
	runner := rejecting{b.runner}
	j := New(Options{Runner: runner, Blobs: b.blobs})
	result, report, err := j.Judge(t.Context(), b.program("p", echo), grade.Task{Suite: numbered(3)})
	require.NoError(t, err)
	require.NoError(t, j.Close(t.Context()))
	require.Equal(t, sandbox.OutcomeRejected, result.Outcome)
	require.Equal(t, grade.IE, report.Verdict)
	require.Equal(t, `test "2": stdin: too much`, report.Message)
	require.Equal(t, "1=AC ", verdicts(report))
}

// rejecting refuses the second test, as the real runner refuses one that asks for too much.
type rejecting struct{ *fakeRunner }

func (r rejecting) RunTests(ctx context.Context, p sandbox.Program, next func(*sandbox.TestResult) (sandbox.Test, bool)) (sandbox.Result, error) {
	refused := false
	result, err := r.fakeRunner.RunTests(ctx, p, func(previous *sandbox.TestResult) (sandbox.Test, bool) {
		test, more := next(previous)
		refused = test.ID == "2"
		return test, more && !refused
	})
	if refused {
		result = sandbox.Result{Outcome: sandbox.OutcomeRejected, ExitCode: -1, Message: `test "2": stdin: too much`}
	}
	return result, err
}
