package problem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/problem"
)

func loadFolder(t *testing.T, dir string) *problem.Problem {
	t.Helper()
	p, err := problem.Load(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	require.Empty(t, p.Warnings)
	return p
}

func TestALegacyPackageOnDisk(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/halves")
	require.Equal(t, "halves", p.ShortName)
	require.Equal(t, []string{"sample/1", "secret/01-even", "secret/edge/negative"}, p.Root.Tests())
	require.Equal(t, 1500*time.Millisecond, p.Limits.Time)
	require.Equal(t, 3*time.Second, p.Limits.ForLanguage("python").Time)
	require.Len(t, p.InputValidators, 1)

	// What the submissions print, judged by the default validator of each test.
	check := func(name, output string) grade.Verdict {
		test, found := p.Test(name)
		require.True(t, found)
		answer, err := p.ReadFile(test.Answer, 100)
		require.NoError(t, err)
		return test.Check(answer, []byte(output)).Verdict
	}
	require.Equal(t, grade.AC, check("secret/01-even", "5.0\n"))
	require.Equal(t, grade.AC, check("secret/01-even", "5.0000005\n"))
	require.Equal(t, grade.WA, check("secret/edge/negative", "-0.5000005\n"), "the group is strict")
	require.Equal(t, grade.WA, check("sample/1", "1\n"))

	require.Equal(t, []grade.Verdict{grade.WA, grade.RE, grade.MLE}, submission(t, p, "submissions/mixed/inverse.py").Expect.Final)
	require.Len(t, submission(t, p, "submissions/run_time_error/deep").Files, 2)
	test, _ := p.Test("secret/01-even")
	require.Equal(t, "no fraction", test.Description)
}

func TestACurrentPackageOnDisk(t *testing.T) {
	t.Parallel()
	p := loadFolder(t, "testdata/steps")
	require.Equal(t, "Steps", p.Name())
	require.True(t, p.CustomValidation)
	large, _ := p.Test("secret/2-large/1")
	require.Equal(t, []string{"large"}, large.ValidatorFlags)
	const small = "sample/1=AC secret/1-small/1=AC secret/1-small/2=AC "
	require.Equal(t, number(100.0), scoreOf(t, p, small+"secret/2-large/1=AC secret/2-large/2=AC secret/2-large/3=AC secret/2-large/4=AC"))

	// 40 for small, and 15 for each of the large ones below 30.
	below := outcome(p, small+"secret/2-large/1=AC secret/2-large/2=AC secret/2-large/3=WA secret/2-large/4=WA")
	require.Equal(t, number(70), below.Result.Score)
	violations, _ := submission(t, p, "submissions/partial/below.py").Expect.Check(below)
	require.Empty(t, violations)

	got, err := p.Files(submission(t, p, "submissions/accepted/steps.py").Files, p.IncludeFor("python")...)
	require.NoError(t, err)
	require.Equal(t, "MOST = 100\n", string(got[1].Data))
}
