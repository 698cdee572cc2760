package problem_test

import (
	"path"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
)

func example(t *testing.T, name string) *problem.Problem {
	t.Helper()
	p := loadFolder(t, "../../../examples/problems/"+name)
	require.Equal(t, name, p.ShortName)
	require.Equal(t, time.Second, p.Limits.Time)
	require.Equal(t, 2*time.Second, p.Limits.ForLanguage("java").Time)
	require.Equal(t, int64(64<<20), p.Limits.Memory)
	require.Equal(t, int64(1<<20), p.Limits.Output)
	require.Len(t, p.InputValidators, 1)
	return p
}

// perFolder counts the submissions of each folder.
func perFolder(p *problem.Problem) map[string]int {
	counts := map[string]int{}
	for _, one := range p.Submissions {
		counts[one.Folder]++
	}
	return counts
}

// check judges an output with the default validator of a test.
func check(t *testing.T, p *problem.Problem, name, output string) grade.Verdict {
	t.Helper()
	test, found := p.Test(name)
	require.True(t, found, name)
	answer, err := p.ReadFile(test.Answer, 100)
	require.NoError(t, err)
	return test.Check(answer, []byte(output)).Verdict
}

func TestExamplesPromiseEveryVerdictInEveryLanguage(t *testing.T) {
	t.Parallel()
	// Python has no compiler, and the JVM ends itself before the kernel does.
	want := map[string][]string{
		".py":   {"AC", "MLE", "OLE", "RE", "TLE", "WA"},
		".cpp":  {"AC", "CE", "MLE", "OLE", "RE", "TLE", "WA"},
		".java": {"AC", "CE", "OLE", "RE", "RE or MLE", "TLE", "WA"},
	}
	folders := map[string]string{"accepted": "AC", "wrong_answer": "WA", "time_limit_exceeded": "TLE", "run_time_error": "RE"}
	for _, name := range []string{"sum", "circle", "subset", "guess", "blocks"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[string][]string{}
			for _, one := range example(t, name).Submissions {
				promise := folders[one.Folder]
				if one.Folder == "mixed" {
					promise = string(one.Expect.Final[0])
					if len(one.Expect.Final) > 1 {
						promise += " or " + string(one.Expect.Final[1])
					}
				}
				language := path.Ext(one.Files[0].Path)
				if promise != "" && !slices.Contains(got[language], promise) {
					got[language] = append(got[language], promise)
				}
			}
			for _, promises := range got {
				slices.Sort(promises)
			}
			require.Equal(t, want, got)
		})
	}
}

func TestTheExampleSum(t *testing.T) {
	t.Parallel()
	p := example(t, "sum")
	require.Equal(t, problem.VersionLegacy, p.Version)
	require.Equal(t, []string{
		"sample/1", "sample/2", "secret/01-none", "secret/02-small", "secret/03-negative",
		"secret/04-large", "secret/05-both", "secret/06-many",
	}, p.Root.Tests())
	require.False(t, p.CustomValidation)
	require.Equal(t, map[string]int{"accepted": 8, "wrong_answer": 4, "time_limit_exceeded": 3, "run_time_error": 8, "mixed": 12}, perFolder(p))

	parts := submission(t, p, "submissions/accepted/parts_cpp")
	require.Len(t, parts.Files, 3)
	require.Len(t, p.IncludeFor("cpp", "c++"), 1)
	require.Empty(t, p.IncludeFor("python"))
	sent, err := p.Files(parts.Files, p.IncludeFor("cpp")...)
	require.NoError(t, err)
	require.Equal(t, "amounts.h", sent[3].Path)

	// Five times a thousand million; in 32 bits it is 705032704.
	require.Equal(t, grade.AC, check(t, p, "secret/04-large", "\r\n 5000000000\n\n"))
	require.Equal(t, grade.WA, check(t, p, "secret/04-large", "705032704\n"))
	require.Equal(t, grade.WA, check(t, p, "secret/04-large", "5000000000 5000000000\n"))
	require.Equal(t, grade.WA, check(t, p, "secret/01-none", ""))
}

func TestTheExampleCircle(t *testing.T) {
	t.Parallel()
	p := example(t, "circle")
	require.Equal(t, problem.Version202307, p.Version)
	require.Len(t, p.Tests, 9)
	require.False(t, p.CustomValidation)
	require.Equal(t, map[string]int{"accepted": 5, "wrong_answer": 7, "time_limit_exceeded": 3, "run_time_error": 3, "mixed": 8}, perFolder(p))

	// The centre is (5/4000, 5/4000) and the radius is its distance from the origin, 0.00176776695.
	for output, want := range map[string]grade.Verdict{
		"0.00125 0.00125 0.001767766952966":     grade.AC,
		"0.001250 0.001250 0.001768":            grade.AC, // off by 2.3e-7
		"+1.25e-03 1.25E-3 1.7677669529664e-03": grade.AC,
		"0.00125 0.00125 0.00177":               grade.WA, // off by 2.2e-6
		"nan nan nan":                           grade.WA,
		"0.00125 0.00125 inf":                   grade.WA,
	} {
		require.Equal(t, want, check(t, p, "secret/02-tiny", output), output)
	}
	// A radius of 499750000 may be off by 499.75.
	require.Equal(t, grade.AC, check(t, p, "secret/07-flat", "-0.25 -499749998.9995 499750400"))
	require.Equal(t, grade.WA, check(t, p, "secret/07-flat", "-0.25 -499749998.9995 499750600"))
}

func TestTheExampleSubset(t *testing.T) {
	t.Parallel()
	p := example(t, "subset")
	require.Equal(t, problem.VersionLegacy, p.Version)
	require.Len(t, p.Tests, 10)
	require.True(t, p.CustomValidation)
	require.Len(t, p.OutputValidators, 2)
	for _, test := range p.Tests {
		require.Equal(t, []string{"any_case"}, test.ValidatorFlags)
	}
	require.Equal(t, map[string]int{"accepted": 4, "wrong_answer": 12, "time_limit_exceeded": 3, "run_time_error": 3, "mixed": 11}, perFolder(p))
}

func TestTheExampleGuess(t *testing.T) {
	t.Parallel()
	p := example(t, "guess")
	require.Equal(t, problem.Version202509, p.Version)
	require.Len(t, p.Tests, 7)
	require.True(t, p.Interactive)
	require.Len(t, p.OutputValidators, 1)
	require.Equal(t, map[string]int{"accepted": 4, "wrong_answer": 16, "time_limit_exceeded": 3, "run_time_error": 4, "mixed": 11}, perFolder(p))

	const rest = " secret/01-one=AC secret/02-two=AC secret/03-last=WA secret/04-first=AC secret/05-middle=WA"
	oneByOne := submission(t, p, "submissions/wrong_answer/OneByOne.java").Expect
	got := outcome(p, "sample/1=WA"+rest+" secret/06-large=WA")
	violations, _ := oneByOne.Check(got)
	require.Equal(t, []string{`no test has a message with "more than 40 guesses"`}, violations)
	got.Findings["secret/06-large"] = grade.Finding{Verdict: grade.WA, Message: "more than 40 guesses"}
	violations, _ = oneByOne.Check(got)
	require.Empty(t, violations)
}

func TestTheExampleBlocks(t *testing.T) {
	t.Parallel()
	p := example(t, "blocks")
	require.Equal(t, problem.VersionLegacy, p.Version)
	require.True(t, p.Scoring)
	require.Len(t, p.Tests, 12)
	require.Equal(t, map[string]int{
		"accepted": 3, "partially_accepted": 9, "wrong_answer": 3, "time_limit_exceeded": 3, "run_time_error": 3, "mixed": 11,
	}, perFolder(p))

	// Two samples that count for nothing, four tests of 5 points, and groups of 30 and of 50.
	const (
		sample = "sample/1=AC sample/2=AC "
		small  = "secret/1-small/1=AC secret/1-small/2=AC secret/1-small/3=AC secret/1-small/4=AC "
		medium = "secret/2-medium/1=AC secret/2-medium/2=AC secret/2-medium/3=AC "
	)
	for name, test := range map[string]struct {
		results string
		score   float64
		of      string
	}{
		"everything":        {sample + small + medium + "secret/3-large/1=AC secret/3-large/2=AC secret/3-large/3=AC", 100, "accepted/matrix.py"},
		"no large ones":     {sample + small + medium + "secret/3-large/1=TLE", 50, "partially_accepted/one_by_one.cpp"},
		"not every medium":  {sample + small + "secret/2-medium/1=AC secret/2-medium/2=RE secret/3-large/1=RE", 20, "partially_accepted/table.py"},
		"half of the small": {sample + "secret/1-small/1=AC secret/1-small/2=AC secret/1-small/3=WA secret/1-small/4=WA secret/2-medium/1=WA secret/3-large/1=WA", 10, "partially_accepted/FirstEight.java"},
		"nothing":           {"sample/1=WA sample/2=WA secret/1-small/1=WA secret/1-small/2=WA secret/1-small/3=WA secret/1-small/4=WA secret/2-medium/1=WA secret/3-large/1=WA", 0, "wrong_answer/none.cpp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := outcome(p, test.results)
			require.Equal(t, number(test.score), got.Result.Score)
			violations, advice := submission(t, p, "submissions/"+test.of).Expect.Check(got)
			require.Empty(t, violations)
			require.Empty(t, advice)
		})
	}
}
