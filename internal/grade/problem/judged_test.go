package problem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// took is a report on a test.
func took(name string, verdict grade.Verdict, cpu time.Duration) grade.TestReport {
	return grade.TestReport{Name: name, Finding: grade.Finding{Verdict: verdict}, CPUTime: sandbox.Seconds(cpu)}
}

func TestATestThatTookMoreThanTheLimitIsTooSlow(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/halves")
	judged := problem.Judged{Verdict: grade.WA, Tests: []grade.TestReport{
		took("sample/1", grade.AC, 500*time.Millisecond), took("secret/01-even", grade.AC, 1100*time.Millisecond), took("secret/edge/negative", grade.WA, 200*time.Millisecond),
	}}
	for limit, want := range map[time.Duration]struct {
		verdict  grade.Verdict
		decisive string
	}{
		0:                       {grade.WA, "secret/edge/negative"},
		2 * time.Second:         {grade.WA, "secret/edge/negative"},
		1100 * time.Millisecond: {grade.WA, "secret/edge/negative"},
		time.Second:             {grade.TLE, "secret/01-even"},
		100 * time.Millisecond:  {grade.TLE, "sample/1"},
	} {
		outcome := judged.Outcome(p.Root, limit)
		require.Equal(t, want.verdict, outcome.Result.Verdict, limit)
		require.Equal(t, want.decisive, outcome.Decisive(p.Root), limit)
	}
	ours := problem.Judged{Verdict: grade.IE, Tests: []grade.TestReport{took("sample/1", grade.IE, time.Hour)}}
	require.Equal(t, grade.IE, ours.Outcome(p.Root, time.Second).Result.Verdict, "a failure of ours is not the submission's")
}

func TestASubmissionThatNeverRanKeepsNoPromiseOfTests(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles)
	accepted := submission(t, p, "submissions/accepted/sum.py")
	none := problem.Judged{Verdict: grade.CE}.Outcome(p.Root, 0)
	violations, _ := accepted.Expect.CheckJudged(none)
	require.Equal(t, []string{"got CE, want AC"}, violations)
	violations, _ = problem.Expectation{Final: []grade.Verdict{grade.CE}}.CheckJudged(none)
	require.Empty(t, violations)
	violations, _ = problem.Expectation{}.CheckJudged(none)
	require.Empty(t, violations, "nothing is promised")
	right := problem.Judged{Verdict: grade.AC, Tests: []grade.TestReport{took("secret/1", grade.AC, 0)}}.Outcome(p.Root, 0)
	violations, _ = accepted.Expect.CheckJudged(right)
	require.Empty(t, violations)
}

func TestPromisesInShort(t *testing.T) {
	t.Parallel()
	for want, expect := range map[string]problem.Expectation{
		"anything": {Rules: []problem.ExpectationRule{{Permitted: []string{"AC"}, Advice: true}}},
		"WA or RE": {Final: []grade.Verdict{grade.WA, grade.RE}},
		"TLE":      {Rules: []problem.ExpectationRule{{Permitted: []string{"AC", "TLE"}, Required: []string{"TLE"}}, {Required: []string{"TLE"}}}},
		"score 0 to 70, secret/easy: AC, secret/hard: WA, message \"no\"": {Rules: []problem.ExpectationRule{
			{Low: number(0), High: number(70)},
			{Scope: "secret/easy", Permitted: []string{"AC"}},
			{Scope: "secret/hard", Required: []string{"WA"}, Message: "no"},
		}},
	} {
		require.Equal(t, want, expect.String())
	}
	require.Equal(t, []grade.Verdict{grade.OLE, grade.MLE, grade.RE},
		problem.Expectation{Rules: []problem.ExpectationRule{{Permitted: []string{"AC", "RTE"}, Required: []string{"RTE"}}}}.Verdicts())
	require.Nil(t, problem.Expectation{Rules: []problem.ExpectationRule{{Scope: "secret/1", Permitted: []string{"AC"}}}}.Verdicts())
}

func TestWhichSubmissionsAreJudgedOnEveryTest(t *testing.T) {
	t.Parallel()
	legacy := load(t, legacyFiles.with(files{"submissions/wrong_answer/a.py": "1"}))
	require.True(t, submission(t, legacy, "submissions/accepted/sum.py").BindsTests(), "its times count")
	require.False(t, submission(t, legacy, "submissions/wrong_answer/a.py").BindsTests(), "what the format says of tests is advice")
	current := load(t, currentFiles.with(files{"submissions/wrong_answer/a.py": "1"}))
	require.True(t, submission(t, current, "submissions/wrong_answer/a.py").BindsTests())
}

func TestTheTimeLimitIsInferred(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles.with(files{"domjudge-problem.ini": "timefactor_python = 3\n"}))
	g := grading(t, p, nil)
	require.Zero(t, g.Limits.Time)
	accepted := submission(t, p, "submissions/accepted/sum.py")
	judged := func(language string, times ...time.Duration) problem.Judged {
		one := problem.Judged{Submission: accepted, Language: language, Verdict: grade.AC}
		for _, cpu := range times {
			one.Tests = append(one.Tests, took("secret/1", grade.AC, cpu))
		}
		return one
	}
	// Python has three times the limit: 2.4 s of it count as 0.8 s. Twice 0.9 s is 1.8 s, and the limit 2 s.
	require.NoError(t, g.Infer([]problem.Judged{judged("python", 2400*time.Millisecond, time.Second), judged("cpp", 900*time.Millisecond)}, 30*time.Second))
	require.Equal(t, 2*time.Second, g.Limits.Time)
	require.Equal(t, 6*time.Second, g.TimeLimit("python"))

	slow := judged("cpp", 31*time.Second)
	slow.Tests[0].Verdict = grade.TLE
	require.EqualError(t, g.Infer([]problem.Judged{slow}, 30*time.Second), "submissions/accepted/sum.py takes more than 30s on secret/1: no time limit can be inferred from it")
	require.EqualError(t, g.Infer([]problem.Judged{{Submission: accepted, Verdict: grade.CE}}, 30*time.Second),
		"the package gives no time limit and no accepted submission ran, from which one could be inferred")
}

func TestTimesAroundTheLimit(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles.with(files{"submissions/time_limit_exceeded/slow.py": "1"}))
	g := grading(t, p, func(o *problem.GradingOptions) { o.Time = 2 * time.Second })
	slow := problem.Judged{Submission: submission(t, p, "submissions/time_limit_exceeded/slow.py"), Language: "python"}
	waits := slow
	slow.Tests = []grade.TestReport{took("secret/1", grade.AC, time.Second), took("secret/2", grade.TLE, 3100*time.Millisecond)}
	waits.Tests = []grade.TestReport{took("secret/1", grade.TLE, time.Millisecond)}
	waits.Tests[0].Outcome = sandbox.OutcomeWallTimeout
	accepted := problem.Judged{Submission: submission(t, p, "submissions/accepted/sum.py"), Language: "python", Tests: []grade.TestReport{took("secret/1", grade.AC, 700*time.Millisecond)}}
	var timing problem.Timing
	for _, one := range []problem.Judged{slow, waits, accepted} {
		timing = g.Add(timing, one)
	}
	require.Equal(t, problem.Timing{SlowestAccepted: 700 * time.Millisecond, FastestTooSlow: 3100 * time.Millisecond}, timing)
}
