package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func validatedBy(kind grade.CheckerKind, programs ...sandbox.Program) *grade.Suite {
	return &grade.Suite{
		Tests:   []grade.Test{{Name: "1", Input: inline("in"), Answer: inline("ans"), ValidatorFlags: []string{"-f", "2"}}},
		Checker: grade.Checker{Kind: kind, Programs: programs},
	}
}

// accepting is the run of a validator that accepts and leaves files: pairs of name and content.
func accepting(files ...string) sandbox.TestResult { return withFiles(exited(42, "", ""), files...) }

func withFiles(result sandbox.TestResult, files ...string) sandbox.TestResult {
	for i := 0; i < len(files); i += 2 {
		result.Files = append(result.Files, sandbox.File{Path: "judge/feedback/" + files[i], Data: sandbox.Bytes(files[i+1])})
	}
	return result
}

func TestAValidatorGetsInputAnswerAndOutput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.program("v", func(sandbox.Test) sandbox.TestResult { return accepting() })
	report := b.judged(t, b.program("p", func(sandbox.Test) sandbox.TestResult { return printed("out") }), grade.Task{Suite: validatedBy(grade.CheckValidator, v)})
	require.Equal(t, grade.AC, report.Verdict)
	require.Equal(t, []sandbox.Test{{
		ID:    "1",
		Stdin: sandbox.Bytes("out"),
		Args:  []string{"/workspace/judge/input", "/workspace/judge/answer", "/workspace/judge/feedback/", "-f", "2"},
		Files: []sandbox.File{{Path: "judge/input", Data: sandbox.Bytes("in")}, {Path: "judge/answer", Data: sandbox.Bytes("ans")}, {Path: "judge/feedback/"}},
		Outputs: []string{
			"judge/feedback/score.txt", "judge/feedback/score_multiplier.txt", "judge/feedback/nextpass.in",
			"judge/feedback/judgemessage.txt", "judge/feedback/teammessage.txt",
		},
	}}, b.runner.given["v"])
}

func TestVerdictsOfValidators(t *testing.T) {
	t.Parallel()
	score := func(n float64) *float64 { return &n }
	refused := accepting()
	refused.RefusedFiles = []sandbox.RefusedFile{{Path: "judge/feedback/score.txt", Reason: "is a link"}}
	loud := accepting()
	loud.RefusedFiles = []sandbox.RefusedFile{{Path: "judge/feedback/judgemessage.txt", Reason: "is too large"}}
	slow := sandbox.TestResult{Outcome: sandbox.OutcomeWallTimeout, ExitCode: -1, Message: "stopped at the wall-clock limit of 5 s"}
	ie := func(message string) grade.Finding {
		return grade.Finding{Verdict: grade.IE, Message: "output validator in fake: " + message, Public: "internal error"}
	}
	for name, tt := range map[string]struct {
		first, second sandbox.TestResult
		want          grade.Finding
	}{
		"both accept":           {accepting(), accepting(), grade.Finding{Verdict: grade.AC}},
		"the first rejects":     {exited(43, "", ""), slow, grade.Finding{Verdict: grade.WA}},
		"the second rejects":    {accepting("score.txt", "1"), exited(43, "", ""), grade.Finding{Verdict: grade.WA}},
		"messages":              {withFiles(exited(43, "", ""), "judgemessage.txt", "want 5\n", "teammessage.txt", "no\n"), slow, grade.Finding{Verdict: grade.WA, Message: "want 5", Public: "no"}},
		"a score":               {accepting(), accepting("score.txt", "2.5\n"), grade.Finding{Verdict: grade.AC, Score: score(2.5)}},
		"score of the first":    {accepting("score_multiplier.txt", "0.5"), accepting("judgemessage.txt", "fine"), grade.Finding{Verdict: grade.AC, Message: "fine", Multiplier: score(0.5)}},
		"two scores of one":     {accepting("score.txt", "1", "score_multiplier.txt", "1"), slow, ie("the output validator wrote both score.txt and score_multiplier.txt")},
		"an empty score":        {accepting("score.txt", ""), slow, ie(`score.txt is "": want one number`)},
		"a score not taken":     {refused, slow, ie("the output validator's score.txt could not be taken: is a link")},
		"a message not taken":   {loud, accepting(), grade.Finding{Verdict: grade.AC}},
		"another pass":          {accepting("nextpass.in", ""), slow, ie("the output validator wrote nextpass.in: problems of several passes are not judged here")},
		"exit code 0":           {printed(""), slow, ie("the output validator ended with exit code 0: want 42 for right or 43 for wrong")},
		"it crashes":            {exited(1, "", "Traceback\n  File x\nNameError: y\nmore"), slow, ie(`the output validator ended with exit code 1: want 42 for right or 43 for wrong; its stderr begins with "Traceback | File x | NameError: y"`)},
		"it is too slow":        {accepting(), slow, ie("the output validator failed: stopped at the wall-clock limit of 5 s")},
		"it wrote other things": {accepting("note.txt", "x"), accepting(), grade.Finding{Verdict: grade.AC}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			first := b.program("first", func(sandbox.Test) sandbox.TestResult { return tt.first })
			second := b.program("second", func(sandbox.Test) sandbox.TestResult { return tt.second })
			report := b.judged(t, b.program("p", echo), grade.Task{Suite: validatedBy(grade.CheckValidator, first, second)})
			require.Equal(t, tt.want, report.Tests[0].Finding)
		})
	}
}

func TestAFailedRunIsNotValidated(t *testing.T) {
	t.Parallel()
	for _, kind := range []grade.CheckerKind{grade.CheckValidator, grade.CheckTestlib} {
		b := setup(t)
		v := b.program("v", func(sandbox.Test) sandbox.TestResult { return accepting() })
		report := b.judged(t, b.program("p", func(sandbox.Test) sandbox.TestResult { return exited(1, "out", "") }), grade.Task{Suite: validatedBy(kind, v)})
		require.Equal(t, grade.RE, report.Verdict)
		require.Zero(t, b.runner.startedOf("v"))
	}
}

func TestAValidatorThatCannotRunIsNotTheSubmissionsFault(t *testing.T) {
	t.Parallel()
	compile := &sandbox.Step{Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 1, Stderr: stream("v.cpp:1:1: error: what\n")}
	for name, tt := range map[string]struct {
		whole sandbox.Result
		want  string
	}{
		"does not compile": {
			sandbox.Result{Outcome: sandbox.OutcomeCompileError, Message: "compile: exited with code 1", Compile: compile},
			`1: internal error: output validator check/v.cpp: the output validator failed: compile: exited with code 1; its stderr begins with "v.cpp:1:1: error: what"`,
		},
		"is not allowed": {
			sandbox.Result{Outcome: sandbox.OutcomeRejected, Message: "limits.memory_bytes: 9 is not allowed"},
			"1: internal error: output validator check/v.cpp: the output validator failed: limits.memory_bytes: 9 is not allowed",
		},
	} {
		b := setup(t)
		b.behaves("", behavior{whole: &tt.whole})
		v := sandbox.Program{Language: "cpp", Files: []sandbox.File{{Path: "check/v.cpp", Data: sandbox.Bytes("x")}}}
		suite := validatedBy(grade.CheckValidator, v)
		suite.Tests = append(suite.Tests, grade.Test{Name: "2"})
		report := b.judged(t, b.program("p", echo), grade.Task{Suite: suite})
		require.Equal(t, grade.IE, report.Verdict, name)
		require.Equal(t, tt.want, report.Message)
		require.Equal(t, "1=IE ", verdicts(report), "nothing can change that")
	}
}

func TestScoresWithoutGroups(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.program("v", func(test sandbox.Test) sandbox.TestResult {
		if test.ID == "2" {
			return exited(43, "", "")
		}
		return accepting("score.txt", test.ID)
	})
	suite := numbered(3)
	suite.Checker = grade.Checker{Kind: grade.CheckValidator, Programs: []sandbox.Program{v}, CustomScore: true}
	report := b.judged(t, b.program("p", echo), grade.Task{Suite: suite})
	require.Equal(t, "1=AC 2=WA 3=AC ", verdicts(report))
	require.Equal(t, grade.WA, report.Verdict)
	require.InDelta(t, 4, *report.Score, 0)

	suite.Checker.CustomScore = false
	report = b.judged(t, b.program("p", echo), grade.Task{Suite: suite})
	require.Equal(t, grade.IE, report.Verdict)
	require.Equal(t, "the validator wrote a score and the problem does not say that it scores", report.Message)
}

func TestVerdictsOfTestlibCheckers(t *testing.T) {
	t.Parallel()
	score := 2.5
	for name, tt := range map[string]struct {
		run  sandbox.TestResult
		want grade.Finding
	}{
		"ok":           {sandbox.TestResult{Outcome: sandbox.OutcomeOK, OK: true, Stderr: stream("ok 3 numbers\n")}, grade.Finding{Verdict: grade.AC, Message: "ok 3 numbers"}},
		"wrong":        {exited(1, "", "wrong answer 1st numbers differ\n"), grade.Finding{Verdict: grade.WA, Message: "wrong answer 1st numbers differ"}},
		"presentation": {exited(2, "", "wrong output format\n"), grade.Finding{Verdict: grade.WA, Message: "wrong output format"}},
		"points":       {exited(7, "", "points 2.5 good\n"), grade.Finding{Verdict: grade.AC, Message: "points 2.5 good", Score: &score}},
		"fail":         {exited(3, "", "FAIL bad answer\n"), grade.Finding{Verdict: grade.IE, Message: "checker in fake: the checker ended with exit code 3: FAIL bad answer", Public: "internal error"}},
		"crash":        {sandbox.TestResult{Outcome: sandbox.OutcomeSignaled, ExitCode: 134, Message: "killed by SIGABRT", Stderr: stream("terminate\n")}, grade.Finding{Verdict: grade.IE, Message: `checker in fake: the checker failed: killed by SIGABRT; its stderr begins with "terminate"`, Public: "internal error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			checker := b.program("c", func(sandbox.Test) sandbox.TestResult { return tt.run })
			report := b.judged(t, b.program("p", func(sandbox.Test) sandbox.TestResult { return printed("out") }), grade.Task{Suite: validatedBy(grade.CheckTestlib, checker)})
			require.Equal(t, tt.want, report.Tests[0].Finding)
			require.Equal(t, []sandbox.Test{{
				ID:   "1",
				Args: []string{"/workspace/judge/input", "/workspace/judge/output", "/workspace/judge/answer"},
				Files: []sandbox.File{
					{Path: "judge/input", Data: sandbox.Bytes("in")}, {Path: "judge/answer", Data: sandbox.Bytes("ans")}, {Path: "judge/output", Data: sandbox.Bytes("out")},
				},
			}}, b.runner.given["c"])
		})
	}
}

func TestAnInternalErrorEndsTheJudgingOfGroupsThatGoOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.program("v", func(test sandbox.Test) sandbox.TestResult {
		if test.ID == "2" {
			return exited(1, "", "")
		}
		return exited(43, "", "")
	})
	suite := numbered(4)
	suite.Checker = grade.Checker{Kind: grade.CheckValidator, Programs: []sandbox.Program{v}}
	suite.Root = &grade.Group{Rule: grade.NewLegacyRule(true)}
	for _, test := range suite.Tests {
		suite.Root.Items = append(suite.Root.Items, grade.Item{Test: test.Name})
	}
	report := b.judged(t, b.program("p", echo), grade.Task{Suite: suite})
	require.Equal(t, grade.IE, report.Verdict)
	require.Equal(t, "1=WA 2=IE ", verdicts(report), "the rest can change nothing")
	require.Contains(t, report.Message, "2: internal error: output validator in fake: ")
	report = b.judged(t, b.program("p", echo), grade.Task{Suite: suite, Mode: grade.Everything})
	require.Equal(t, "1=WA 2=IE 3=WA 4=WA ", verdicts(report))
}
