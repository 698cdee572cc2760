package problem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
)

func submission(t testing.TB, p *problem.Problem, path string) problem.Submission {
	t.Helper()
	for _, one := range p.Submissions {
		if one.Path == path {
			return one
		}
	}
	require.Failf(t, "no such submission", "%s is not among %d", path, len(p.Submissions))
	return problem.Submission{}
}

func TestLegacyFoldersPromiseAVerdictOfTheWhole(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{
		"submissions/wrong_answer/a.py": "1", "submissions/time_limit_exceeded/b.py": "1", "submissions/run_time_error/c/main.py": "1",
		"submissions/run_time_error/c/lib/x.py": "1", "submissions/compiler_error/d.c": "1", "submissions/memory-limit/e.c": "1", "submissions/output_limit/f.c": "1",
	}))
	require.Empty(t, p.Warnings)
	for path, want := range map[string][]grade.Verdict{
		"submissions/accepted/sum.py":          {grade.AC},
		"submissions/wrong_answer/a.py":        {grade.WA},
		"submissions/time_limit_exceeded/b.py": {grade.TLE},
		"submissions/run_time_error/c":         {grade.RE, grade.MLE, grade.OLE},
		"submissions/compiler_error/d.c":       {grade.CE},
		"submissions/memory-limit/e.c":         {grade.MLE},
		"submissions/output_limit/f.c":         {grade.OLE},
	} {
		require.Equal(t, want, submission(t, p, path).Expect.Final, path)
	}
	require.True(t, submission(t, p, "submissions/accepted/sum.py").BoundsBelow)
	require.True(t, submission(t, p, "submissions/time_limit_exceeded/b.py").BoundsAbove)
	several := submission(t, p, "submissions/run_time_error/c")
	require.Equal(t, "c", several.Name)
	require.Equal(t, []problem.File{
		{Path: "lib/x.py", Source: "submissions/run_time_error/c/lib/x.py", Size: 1}, {Path: "main.py", Source: "submissions/run_time_error/c/main.py", Size: 1},
	}, several.Files)
	require.Equal(t, "sum", submission(t, p, "submissions/accepted/sum.py").Name)
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source string
		want   []grade.Verdict
	}{
		"one result":                  {"// @EXPECTED_RESULTS@: TIMELIMIT\n", []grade.Verdict{grade.TLE}},
		"several":                     {"# @EXPECTED_RESULTS@: CORRECT, WRONG-ANSWER,TIMELIMIT\n", []grade.Verdict{grade.AC, grade.WA, grade.TLE}},
		"at the end of the file":      {"# @EXPECTED_RESULTS@: COMPILER-ERROR", []grade.Verdict{grade.CE}},
		"in a comment of C":           {"/* @EXPECTED_RESULTS@: RUN-ERROR */\n", []grade.Verdict{grade.RE, grade.MLE}},
		"windows line ends":           {"# @EXPECTED_RESULTS@: WRONG-ANSWER\r\n", []grade.Verdict{grade.WA}},
		"in any case":                 {"# @expected_results@: memory-limit\n", []grade.Verdict{grade.MLE}},
		"the names of the format":     {"# @EXPECTED_RESULTS@: ACCEPTED, RUN_TIME_ERROR\n", []grade.Verdict{grade.AC, grade.RE, grade.MLE, grade.OLE}},
		"each verdict once":           {"# @EXPECTED_RESULTS@: WRONG-ANSWER, NO-OUTPUT\n", []grade.Verdict{grade.WA}},
		"results in the other marker": {"# @EXPECTED_SCORE@: CORRECT\n", []grade.Verdict{grade.AC}},
		"among bytes that are none":   {"\xff\xfe @EXPECTED_RESULTS@: OUTPUT-LIMIT\n\x00", []grade.Verdict{grade.OLE}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := load(t, legacyFiles.with(files{"submissions/mixed/a.py": test.source}))
			require.Empty(t, p.Warnings)
			require.Equal(t, test.want, submission(t, p, "submissions/mixed/a.py").Expect.Final)
		})
	}
}

func TestAnAnnotationInAFolderThatPromises(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{"submissions/wrong_answer/a.py": "# @EXPECTED_RESULTS@: WRONG-ANSWER, TIMELIMIT\n"}))
	require.Equal(t, []grade.Verdict{grade.WA}, submission(t, p, "submissions/wrong_answer/a.py").Expect.Final, "the folder decides")
}

func TestFaultsOfAnnotations(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		`submissions/mixed/a.py: @EXPECTED_RESULTS@: "FINE": want any of CORRECT, WRONG-ANSWER, TIMELIMIT, RUN-ERROR, MEMORY-LIMIT, OUTPUT-LIMIT, NO-OUTPUT, COMPILER-ERROR with commas between`,
		`submissions/mixed/b.py: has more than one of @EXPECTED_RESULTS@: and @EXPECTED_SCORE@:`,
		`submissions/mixed/c.py: is annotated with a score: want type scoring in problem.yaml`,
		`submissions/mixed/d/2.py: has an annotation and another file of the submission too`,
		`submissions/wrong_answer/e.py: is annotated with TLE and lies in wrong_answer`,
	}, issues(t, legacyFiles.with(files{
		"submissions/mixed/a.py":        "# @EXPECTED_RESULTS@: FINE\n",
		"submissions/mixed/b.py":        "# @EXPECTED_RESULTS@: CORRECT\n# @EXPECTED_RESULTS@: CORRECT\n",
		"submissions/mixed/c.py":        "# @EXPECTED_SCORE@: 12.5\n",
		"submissions/mixed/d/1.py":      "# @EXPECTED_RESULTS@: CORRECT\n",
		"submissions/mixed/d/2.py":      "# @EXPECTED_RESULTS@: CORRECT\n",
		"submissions/wrong_answer/e.py": "# @EXPECTED_RESULTS@: TIMELIMIT\n",
	})))
}

func TestASubmissionWithoutAnyPromiseIsAWarning(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(files{"submissions/accepted/sum.py": "", "submissions/slow/a.py": "1"}))
	require.Equal(t, []string{
		"submissions: holds no accepted submission: the format wants one",
		"submissions/slow/a.py: lies in a folder that promises no verdict and has no annotation: want accepted, wrong_answer, time_limit_exceeded, run_time_error or @EXPECTED_RESULTS@:",
	}, warnings(p))
	require.True(t, submission(t, p, "submissions/slow/a.py").Expect.Empty())
}

// outcome grades a package's tests from "secret/1=AC".
func outcome(p *problem.Problem, text string) problem.Outcome {
	known := findings(text)
	return problem.Outcome{Result: grade.Grade(p.Root, known), Findings: known}
}

func TestPromisesOfFoldersSince202307(t *testing.T) {
	t.Parallel()
	p := load(t, currentFiles.with(testCases("secret/2")).with(files{
		"submissions/wrong_answer/a.py": "1", "submissions/time_limit_exceeded/a.py": "1", "submissions/run_time_error/a.py": "1",
		"submissions/rejected/a.py": "1", "submissions/brute_force/a.py": "1",
	}))
	require.Empty(t, p.Warnings)
	for name, test := range map[string]struct{ folder, results, want string }{
		"accepted":                             {"accepted/sum.py", "secret/1=AC secret/2=AC", ""},
		"accepted and wrong once":              {"accepted/sum.py", "secret/1=AC secret/2=WA", "got WA on secret/2, want AC"},
		"wrong once":                           {"wrong_answer/a.py", "secret/1=AC secret/2=WA", ""},
		"never wrong":                          {"wrong_answer/a.py", "secret/1=AC secret/2=AC", "got WA on no test"},
		"wrong and too slow":                   {"wrong_answer/a.py", "secret/1=WA secret/2=TLE", "got TLE on secret/2, want AC or WA"},
		"too slow":                             {"time_limit_exceeded/a.py", "secret/1=TLE secret/2=AC", ""},
		"a crash":                              {"run_time_error/a.py", "secret/1=AC secret/2=RE", ""},
		"too much memory is a crash":           {"run_time_error/a.py", "secret/1=AC secret/2=MLE", ""},
		"too much output is a crash":           {"run_time_error/a.py", "secret/1=OLE", ""},
		"rejected for whatever":                {"rejected/a.py", "secret/1=TLE secret/2=WA", ""},
		"rejected is not accepted":             {"rejected/a.py", "secret/1=AC secret/2=AC", "got RTE or TLE or WA on no test"},
		"brute force may crash":                {"brute_force/a.py", "secret/1=AC secret/2=MLE", ""},
		"brute force is never wrong":           {"brute_force/a.py", "secret/1=WA secret/2=TLE", "got WA on secret/1, want AC or RTE or TLE"},
		"our failure keeps no promise":         {"rejected/a.py", "secret/1=IE", "got RTE or TLE or WA on no test"},
		"our failure is not permitted":         {"accepted/sum.py", "secret/1=IE secret/2=AC", "got IE on secret/1, want AC"},
		"a test that was not run says nothing": {"accepted/sum.py", "secret/1=AC", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations, advice := submission(t, p, "submissions/"+test.folder).Expect.Check(outcome(p, test.results))
			require.Empty(t, advice)
			if test.want == "" {
				require.Empty(t, violations)
			} else {
				require.Equal(t, []string{test.want}, violations)
			}
		})
	}
	require.True(t, submission(t, p, "submissions/wrong_answer/a.py").BoundsBelow)
	require.True(t, submission(t, p, "submissions/time_limit_exceeded/a.py").BoundsAbove)
	require.False(t, submission(t, p, "submissions/brute_force/a.py").BoundsBelow)
	require.False(t, submission(t, p, "submissions/brute_force/a.py").BoundsAbove)
}

func TestLegacyPromisesAreAboutTheWholeAndAdviseAboutTests(t *testing.T) {
	t.Parallel()
	p := load(t, legacyFiles.with(testCases("secret/2")).with(files{"submissions/wrong_answer/a.py": "1", "data/testdata.yaml": "on_reject: continue\ngrader_flags: first_error\n"}))
	wrong := submission(t, p, "submissions/wrong_answer/a.py")
	violations, advice := wrong.Expect.Check(outcome(p, "secret/1=WA secret/2=TLE"))
	require.Empty(t, violations)
	require.Equal(t, []string{"got TLE on secret/2, want AC or WA"}, advice)
	violations, _ = wrong.Expect.Check(outcome(p, "secret/1=TLE secret/2=WA"))
	require.Equal(t, []string{"got TLE, want WA"}, violations)
}

func TestSubmissionsYAML(t *testing.T) {
	t.Parallel()
	p := load(t, scoringFiles().with(files{
		"submissions/mixed/easy_only.py": "1", "submissions/mixed/slow.py": "1", "submissions/time_limit_exceeded/a/x.pypy": "1", "submissions/accepted/quiet.py": "1",
		"submissions/submissions.yaml": `
mixed/easy_{only,never}.py:
  language: python3
  score: 20
  sample: {permitted: [AC]}
  secret/easy: {permitted: [AC], score: [20, 20]}
  secret/parts/*: {permitted: [WA, TLE], required: [TLE], message: too slow}
mixed/slow.py:
  authors: Somebody
  model_solution: true
  use_for_time_limit: upper
time_limit_exceeded:
  permitted: [AC, WA, TLE]
time_limit_exceeded/*:
  entrypoint: x
accepted/quiet.py:
  use_for_time_limit: false
`,
	}))
	require.Empty(t, p.Warnings)
	easy := submission(t, p, "submissions/mixed/easy_only.py")
	require.Equal(t, "python3", easy.Language)
	require.Equal(t, []problem.ExpectationRule{
		{Low: number(20), High: number(20)},
		{Scope: "sample", Permitted: []string{"AC"}, UseForLower: true},
		{Scope: "secret/easy", Permitted: []string{"AC"}, Low: number(20), High: number(20), UseForLower: true},
		{Scope: "secret/parts/*", Permitted: []string{"WA", "TLE"}, Required: []string{"TLE"}, Message: "too slow", UseForUpper: true},
	}, easy.Expect.Rules)

	kept := outcome(p, "sample/1=AC secret/easy/1=AC secret/easy/2=AC secret/parts/1=WA secret/parts/2=TLE secret/parts/sub/3=TLE secret/zworst/1=WA")
	kept.Findings["secret/parts/2"] = grade.Finding{Verdict: grade.TLE, Message: "much too slow"}
	violations, _ := easy.Expect.Check(kept)
	require.Empty(t, violations)
	violations, _ = easy.Expect.Check(outcome(p, "sample/1=AC secret/easy/1=AC secret/easy/2=WA secret/parts/1=AC secret/parts/2=WA secret/parts/sub/3=AC secret/zworst/1=AC secret/zworst/2=AC"))
	require.Equal(t, []string{
		"got WA on secret/easy/2 in secret/easy, want AC",
		"got the score 0 in secret/easy, want 20",
		"got AC on secret/parts/1 in secret/parts/*, want WA or TLE",
		"got TLE on no test in secret/parts/*",
		`no test in secret/parts/* has a message with "too slow"`,
	}, violations)

	slow := submission(t, p, "submissions/mixed/slow.py")
	require.Equal(t, []problem.ExpectationRule{{Required: []string{"TLE"}, UseForUpper: true}}, slow.Expect.Rules)
	changed := submission(t, p, "submissions/time_limit_exceeded/a")
	require.Equal(t, "x", changed.Entrypoint)
	require.Equal(t, []problem.ExpectationRule{{Permitted: []string{"AC", "WA", "TLE"}, Required: []string{"TLE"}, UseForUpper: true}}, changed.Expect.Rules)
}

func TestFaultsOfSubmissionsYAML(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		`submissions/submissions.yaml:2: accepted.permitted: "MLE": want any of AC, WA, TLE, RTE`,
		`submissions/submissions.yaml:3: accepted.required: is empty: want any of AC, WA, TLE, RTE`,
		`submissions/submissions.yaml:4: accepted.score: is only for problems of type scoring`,
		`submissions/submissions.yaml:5: accepted.use_for_time_limit: "both": want one of lower, upper`,
		`submissions/submissions.yaml:6: rejected: want a map of keys to values`,
	}, issues(t, currentFiles.with(files{"submissions/submissions.yaml": `accepted:
  permitted: [MLE]
  required: []
  score: 5
  use_for_time_limit: both
rejected: [AC]
`})))
}

func TestPartialScoresOfLegacyPackages(t *testing.T) {
	t.Parallel()
	base := legacyFiles.with(testCases("secret/2")).with(files{
		"submissions/partially_accepted/half.py": "1",
		"submissions/mixed/exact.py":             "# @EXPECTED_SCORE@: 1\n",
		"data/testdata.yaml":                     "grader_flags: always_accept\non_reject: continue\nrange: 0 2\n",
	})
	p := load(t, base.with(files{"problem.yaml": "type: scoring\n"}))
	half, exact := submission(t, p, "submissions/partially_accepted/half.py"), submission(t, p, "submissions/mixed/exact.py")
	violations, _ := half.Expect.Check(outcome(p, "secret/1=AC secret/2=WA"))
	require.Empty(t, violations)
	violations, _ = exact.Expect.Check(outcome(p, "secret/1=AC secret/2=WA"))
	require.Empty(t, violations)
	violations, _ = half.Expect.Check(outcome(p, "secret/1=AC secret/2=AC"))
	require.Equal(t, []string{"got the score 2, want 0 to 1.99"}, violations)
	violations, _ = exact.Expect.Check(outcome(p, "secret/1=AC secret/2=AC"))
	require.Equal(t, []string{"got the score 2, want 1"}, violations)

	p = load(t, base.with(files{"problem.yaml": "type: scoring\ngrading: {objective: min}\n"}))
	violations, _ = submission(t, p, "submissions/partially_accepted/half.py").Expect.Check(outcome(p, "secret/1=WA secret/2=WA"))
	require.Equal(t, []string{"got the score 0, want 0.01 to 2"}, violations)
}
