package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestVerdictsOfComparedOutputs(t *testing.T) {
	t.Parallel()
	cut := printed("4")
	cut.Stdout.Total, cut.Stdout.Truncated = 9_000_000, true
	for name, tt := range map[string]struct {
		kind    grade.CheckerKind
		result  sandbox.TestResult
		want    grade.Verdict
		message string
	}{
		"right":                       {"", printed("42\n"), grade.AC, ""},
		"right but for white space":   {grade.CheckTokens, printed(" 42\n\n"), grade.AC, ""},
		"wrong":                       {"", printed("41\n"), grade.WA, `1: wrong answer: line 1, column 1, token 1: got "41", want "42"`},
		"exact wants the very bytes":  {grade.CheckExact, printed("42"), grade.WA, `1: wrong answer: line 1, column 3: the output ends after 2 bytes, too early, want "42"`},
		"exact and the same":          {grade.CheckExact, printed("42\n"), grade.AC, ""},
		"text forgives a line end":    {grade.CheckText, printed("42\r\n"), grade.AC, ""},
		"nothing is compared":         {grade.CheckNone, printed("anything"), grade.AC, ""},
		"nothing is compared of much": {grade.CheckNone, cut, grade.AC, ""},
		"nothing compared of a crash": {grade.CheckNone, exited(3, "42", ""), grade.RE, "1: run-time error: exit code 3"},
		"crash with the right output": {"", exited(1, "42", "Traceback\n  x\nZeroDivisionError: division by zero\n"), grade.RE, "1: run-time error: exit code 1: ZeroDivisionError: division by zero"},
		"signal":                      {"", sandbox.TestResult{Outcome: sandbox.OutcomeSignaled, ExitCode: 139, Signal: "SIGSEGV"}, grade.RE, "1: run-time error: killed by SIGSEGV"},
		"CPU time":                    {"", sandbox.TestResult{Outcome: sandbox.OutcomeCPUTimeout, ExitCode: -1, Message: "stopped at the CPU-time limit of 2 s"}, grade.TLE, "1: time limit exceeded: stopped at the CPU-time limit of 2 s"},
		"wall time":                   {"", sandbox.TestResult{Outcome: sandbox.OutcomeWallTimeout, ExitCode: -1}, grade.TLE, "1: time limit exceeded: wall_timeout"},
		"memory":                      {"", sandbox.TestResult{Outcome: sandbox.OutcomeOutOfMemory, ExitCode: 137}, grade.MLE, "1: memory limit exceeded: out_of_memory"},
		"output limit":                {"", sandbox.TestResult{Outcome: sandbox.OutcomeOutputLimit, ExitCode: -1}, grade.OLE, "1: output limit exceeded: output_limit"},
		"more than was kept":          {"", cut, grade.OLE, "1: output limit exceeded: the output of 9000000 bytes is more than was kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			suite := &grade.Suite{Tests: []grade.Test{{Name: "1", Answer: inline("42\n")}}, Checker: grade.Checker{Kind: tt.kind}}
			report := b.judged(t, b.program("p", func(sandbox.Test) sandbox.TestResult { return tt.result }), grade.Task{Suite: suite})
			require.Equal(t, tt.want, report.Verdict)
			require.Equal(t, tt.want, report.Tests[0].Verdict)
			require.Equal(t, tt.message, report.Message)
		})
	}
}

func TestVerdictsWithoutAnyTest(t *testing.T) {
	t.Parallel()
	compiled := func(outcome sandbox.Outcome, stderr string) *sandbox.Step {
		return &sandbox.Step{Outcome: outcome, ExitCode: 1, Stderr: stream(stderr)}
	}
	for name, tt := range map[string]struct {
		whole   sandbox.Result
		want    grade.Verdict
		message string
	}{
		"compile error": {
			sandbox.Result{Outcome: sandbox.OutcomeCompileError, Compile: compiled(sandbox.OutcomeNonzeroExit, "main.c: In function 'main':\nmain.c:3:5: error: 'x' undeclared\nmore\n")},
			grade.CE, "main.c:3:5: error: 'x' undeclared",
		},
		"compile error that does not say so": {
			sandbox.Result{Outcome: sandbox.OutcomeCompileError, Compile: compiled(sandbox.OutcomeNonzeroExit, "\nbad\nworse\n")},
			grade.CE, "bad",
		},
		"compiler too slow": {
			sandbox.Result{Outcome: sandbox.OutcomeCompileError, Message: "compile: stopped at the wall-clock limit of 30 s", Compile: compiled(sandbox.OutcomeWallTimeout, "warning: error-prone\n")},
			grade.CE, "compile: stopped at the wall-clock limit of 30 s",
		},
		"silent compiler": {
			sandbox.Result{Outcome: sandbox.OutcomeCompileError, Message: "compile: exited with code 1", Compile: compiled(sandbox.OutcomeNonzeroExit, "")},
			grade.CE, "compile: exited with code 1",
		},
		"rejected": {sandbox.Result{Outcome: sandbox.OutcomeRejected, Message: `language "cobol" is unknown`}, grade.IE, `language "cobol" is unknown`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			result, report, err := b.Judge.Judge(t.Context(), b.behaves("p", behavior{whole: &tt.whole}), grade.Task{Suite: numbered(2)})
			require.NoError(t, err)
			require.Equal(t, tt.whole.Outcome, result.Outcome)
			require.Equal(t, &grade.Report{Verdict: tt.want, Message: tt.message}, report)
		})
	}
}

func TestReportOnATest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.program("p", func(sandbox.Test) sandbox.TestResult {
		result := exited(3, "0123456789", "abc")
		result.CPUUser, result.CPUSystem = sandbox.Seconds(2*time.Second), sandbox.Seconds(500*time.Millisecond)
		result.Duration, result.PeakMemory = sandbox.Seconds(3*time.Second), 1000
		return result
	})
	suite := numbered(1)
	report := b.judged(t, p, grade.Task{Suite: suite, KeepOutput: 5})
	require.Equal(t, []grade.TestReport{{
		Name: "1", Finding: grade.Finding{Verdict: grade.RE, Message: "exit code 3", Public: "exit code 3"},
		Key: suite.Key(suite.Tests[0]), Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3,
		CPUTime: sandbox.Seconds(2500 * time.Millisecond), WallTime: sandbox.Seconds(3 * time.Second), PeakMemory: 1000,
		Stdout: &sandbox.Stream{Data: sandbox.Bytes("01289"), Total: 10, Truncated: true, CutAt: 3},
		Stderr: &sandbox.Stream{Data: sandbox.Bytes("abc"), Total: 3},
	}}, report.Tests)
	require.Nil(t, report.Score)
	require.Nil(t, report.Groups)

	report = b.judged(t, p, grade.Task{Suite: suite, KeepOutput: -1})
	require.Nil(t, report.Tests[0].Stdout)
	require.Nil(t, report.Tests[0].Stderr)
}

func TestKeptOutputOfACutStream(t *testing.T) {
	t.Parallel()
	cut := sandbox.Stream{Data: sandbox.Bytes("abcdWXYZ"), Total: 100, Truncated: true, CutAt: 4}
	require.Equal(t, &cut, kept(cut, 8))
	require.Equal(t, &sandbox.Stream{Data: sandbox.Bytes("abYZ"), Total: 100, Truncated: true, CutAt: 2}, kept(cut, 4))
	cut.CutAt = 1
	require.Equal(t, &sandbox.Stream{Data: sandbox.Bytes("aXYZ"), Total: 100, Truncated: true, CutAt: 1}, kept(cut, 6), "no byte of the tail counts as the head's")
}

func TestOutputsOfManyTestsAreKeptInShares(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ asked, tests, output, message int }{
		"nothing asked":          {0, 1, 2048, 6 << 20},
		"none":                   {-1, 1, -1, 6 << 20},
		"the most, few tests":    {1 << 20, 6, 1 << 20, 1 << 20},
		"the most, 100 tests":    {1 << 20, 100, 62_914, 62_914}, // 12 MiB / 200
		"the most, 20,000 tests": {1 << 20, 20_000, 314, 314},
		"nothing asked, as many": {0, 20_000, 314, 314},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output, message := keepOf(tt.asked, tt.tests)
			require.Equal(t, [2]int{tt.output, tt.message}, [2]int{output, message})
		})
	}
}

// 100 tests that write a MiB to each stream and fail with a long message keep 12 MiB of outputs, not 200.
func TestAReportOfMuchOutputStaysSmall(t *testing.T) {
	t.Parallel()
	b := setup(t)
	long := strings.Repeat("é", 1<<19)
	p := b.program("p", func(sandbox.Test) sandbox.TestResult {
		result := exited(3, long, long)
		result.Message = long
		return result
	})
	report := b.judged(t, p, grade.Task{Suite: numbered(100), Mode: grade.Everything, KeepOutput: 1 << 20})
	require.Len(t, report.Tests, 100)
	for _, test := range report.Tests {
		require.Len(t, test.Stdout.Data, 62_912, "31,457 bytes of the head and of the tail, and no half character")
		require.EqualValues(t, 1<<20, test.Stdout.Total)
		require.Len(t, test.Stderr.Data, 62_912)
		require.Len(t, test.Message, 62_914+len("..."))
		require.Len(t, test.Public, 62_914+len("..."))
	}
}
