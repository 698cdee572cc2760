package grade_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

func tests(names ...string) []grade.Item {
	var items []grade.Item
	for _, name := range names {
		items = append(items, grade.Item{Test: name})
	}
	return items
}

func groups(inner ...*grade.Group) []grade.Item {
	var items []grade.Item
	for _, group := range inner {
		items = append(items, grade.Item{Group: group})
	}
	return items
}

// findings reads "a=AC b=WA c=AC:12.5 d=AC:*0.5", a number being a score and *number a factor.
func findings(t *testing.T, text string) map[string]grade.Finding {
	t.Helper()
	known := map[string]grade.Finding{}
	for _, word := range strings.Fields(text) {
		name, result, _ := strings.Cut(word, "=")
		verdict, score, scored := strings.Cut(result, ":")
		finding := grade.Finding{Verdict: grade.Verdict(verdict)}
		if factor, isFactor := strings.CutPrefix(score, "*"); isFactor {
			finding.Multiplier = number(t, factor)
		} else if scored {
			finding.Score = number(t, score)
		}
		known[name] = finding
	}
	return known
}

func score(value float64) *float64 { return &value }

func legacy(t *testing.T, flags string, scoring bool) grade.LegacyRule {
	t.Helper()
	rule, err := grade.NewLegacyRule(scoring).WithFlags(strings.Fields(flags))
	require.NoError(t, err)
	return rule
}

func TestJoiningOneLegacyGroup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags    string
		stop     bool
		findings string
		verdict  grade.Verdict
		score    float64
	}{
		"all accepted":                          {"", false, "a=AC b=AC c=AC", grade.AC, 3},
		"the worst error":                       {"", false, "a=AC b=WA c=TLE", grade.TLE, 1},
		"the first error":                       {"first_error", false, "a=AC b=WA c=TLE", grade.WA, 1},
		"breaking makes the first the worst":    {"", true, "a=AC b=WA c=TLE", grade.WA, 1},
		"always accepted":                       {"always_accept", false, "a=WA b=WA c=AC", grade.AC, 1},
		"any accepted":                          {"accept_if_any_accepted", false, "a=WA b=TLE c=AC", grade.AC, 1},
		"none accepted":                         {"accept_if_any_accepted first_error", false, "a=WA b=TLE c=RE", grade.WA, 0},
		"any accepted, but judging broke off":   {"accept_if_any_accepted", true, "a=WA b=AC c=AC", grade.WA, 0},
		"least score":                           {"min", false, "a=AC b=WA c=AC", grade.WA, 0},
		"greatest score":                        {"max always_accept", false, "a=WA b=AC c=WA", grade.AC, 1},
		"average of what was judged":            {"avg", true, "a=AC b=WA c=AC", grade.WA, 0.5},
		"average of all":                        {"avg", false, "a=AC b=AC c=AC", grade.AC, 1},
		"of several modes the last counts":      {"first_error worst_error min sum", false, "a=WA b=TLE c=AC", grade.TLE, 1},
		"the old name of worst_error":           {"no_errors", false, "a=WA b=RE c=AC", grade.RE, 1},
		"memory limit is worse than time limit": {"", false, "a=TLE b=MLE c=OLE", grade.MLE, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := &grade.Group{Items: tests("a", "b", "c"), Break: test.stop, Rule: legacy(t, test.flags, true)}
			got := grade.Grade(root, findings(t, test.findings))
			require.Equal(t, test.verdict, got.Verdict)
			require.Equal(t, score(test.score), got.Score)
			require.Empty(t, grade.Pending(root, findings(t, test.findings), false))
		})
	}
}

// subtasks is how olympiads are packed: sample first, then subtasks worth 30 and 70 of which
// every test must pass, and the root takes secret's result.
func subtasks(t *testing.T) *grade.Group {
	t.Helper()
	subtask := func(name string, points float64, names ...string) *grade.Group {
		rule := legacy(t, "min", true)
		rule.Accept, rule.Min, rule.Max = points, 0, points
		return &grade.Group{Name: name, Items: tests(names...), Break: true, Rule: rule}
	}
	secretRule := legacy(t, "accept_if_any_accepted first_error sum", true)
	secretRule.Min, secretRule.Max = 0, 100
	secret := &grade.Group{Name: "secret", Rule: secretRule, Items: groups(
		subtask("secret/1", 30, "secret/1/a", "secret/1/b"), subtask("secret/2", 70, "secret/2/a", "secret/2/b"))}
	sample := &grade.Group{Name: "sample", Items: tests("sample/1"), Break: true, Rule: legacy(t, "", true)}
	return &grade.Group{Items: groups(sample, secret), Rule: legacy(t, "ignore_sample", true)}
}

func TestSubtasks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		findings string
		verdict  grade.Verdict
		score    float64
	}{
		"everything":                 {"sample/1=AC secret/1/a=AC secret/1/b=AC secret/2/a=AC secret/2/b=AC", grade.AC, 100},
		"the first subtask":          {"sample/1=AC secret/1/a=AC secret/1/b=AC secret/2/a=AC secret/2/b=TLE", grade.AC, 30},
		"the second, sample ignored": {"sample/1=WA secret/1/a=WA secret/2/a=AC secret/2/b=AC", grade.AC, 70},
		"nothing":                    {"sample/1=AC secret/1/a=AC secret/1/b=RE secret/2/a=WA", grade.RE, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := findings(t, test.findings)
			require.Empty(t, grade.Pending(subtasks(t), known, false))
			got := grade.Grade(subtasks(t), known)
			require.Equal(t, test.verdict, got.Verdict)
			require.Equal(t, score(test.score), got.Score)
		})
	}
}

func TestAScoreOutOfRangeIsNotedAndCounts(t *testing.T) {
	t.Parallel()
	rule := legacy(t, "sum", true)
	rule.Min, rule.Max = 0, 1.5
	got := grade.Grade(&grade.Group{Items: tests("a", "b"), Rule: rule}, findings(t, "a=AC b=AC"))
	require.Equal(t, grade.AC, got.Verdict)
	require.Equal(t, score(2), got.Score)
	require.Equal(t, "the score 2 is outside of the range from 0 to 1.5", got.Note)
}

func TestPassFailGivesNoScore(t *testing.T) {
	t.Parallel()
	got := grade.Grade(&grade.Group{Items: tests("a", "b"), Break: true, Rule: grade.LegacyRule{}}, findings(t, "a=AC b=AC"))
	require.Equal(t, grade.Graded{Verdict: grade.AC, Items: []grade.Graded{{Name: "a", Verdict: grade.AC}, {Name: "b", Verdict: grade.AC}}}, got)
}

func TestScoresOfALegacyValidator(t *testing.T) {
	t.Parallel()
	scoring := grade.NewLegacyRule(true)
	scoring.CustomScore = true
	for name, test := range map[string]struct {
		rule    grade.LegacyRule
		finding string
		verdict grade.Verdict
		note    string
	}{
		"it must score":             {scoring, "a=AC", grade.IE, "the validator accepted the output and wrote no score.txt"},
		"it did":                    {scoring, "a=AC:5", grade.AC, ""},
		"not what it rejects":       {scoring, "a=WA", grade.WA, ""},
		"it may not":                {grade.NewLegacyRule(true), "a=AC:5", grade.IE, "the validator wrote a score and the problem does not say that it scores"},
		"not in pass-fail problems": {grade.LegacyRule{}, "a=AC:5", grade.IE, "the validator wrote a score and the problem does not say that it scores"},
		"no factors":                {scoring, "a=AC:*0.5", grade.IE, "the legacy format knows no score_multiplier.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := grade.Grade(&grade.Group{Items: tests("a"), Rule: test.rule}, findings(t, test.finding))
			require.Equal(t, test.verdict, got.Verdict)
			require.Equal(t, test.note, got.Note)
		})
	}
}

func TestIgnoreSampleNeedsTheTwoGroups(t *testing.T) {
	t.Parallel()
	got := grade.Grade(&grade.Group{Items: tests("a", "b", "c"), Rule: legacy(t, "ignore_sample", false)}, findings(t, "a=AC b=AC c=AC"))
	require.Equal(t, grade.IE, got.Verdict)
}

func TestOurFailureIsNeverAVerdictOfTheSubmission(t *testing.T) {
	t.Parallel()
	root := &grade.Group{Items: tests("a", "b", "c"), Rule: legacy(t, "always_accept", false)}
	require.Equal(t, grade.IE, grade.Grade(root, findings(t, "a=WA b=IE c=AC")).Verdict)
}

func TestAnEmptyGroupDoesNotCount(t *testing.T) {
	t.Parallel()
	sample := &grade.Group{Name: "sample", Rule: legacy(t, "", true)}
	secret := &grade.Group{Name: "secret", Items: tests("secret/1"), Rule: legacy(t, "", true)}
	root := &grade.Group{Items: groups(sample, secret), Rule: legacy(t, "accept_if_any_accepted min", true)}
	got := grade.Grade(root, findings(t, "secret/1=WA"))
	require.Equal(t, grade.WA, got.Verdict, "the empty sample is not an accepted item")
	require.Equal(t, score(0), got.Score)
}

func TestPendingFollowsBreak(t *testing.T) {
	t.Parallel()
	root := subtasks(t)
	require.Equal(t, []string{"sample/1", "secret/1/a", "secret/1/b", "secret/2/a", "secret/2/b"}, grade.Pending(root, nil, false))
	require.Equal(t, root.Tests(), grade.Pending(root, nil, false))

	known := findings(t, "sample/1=AC secret/1/a=WA")
	require.Equal(t, []string{"secret/2/a", "secret/2/b"}, grade.Pending(root, known, false), "the rest of subtask 1 cannot matter")
	require.Equal(t, []string{"secret/1/b", "secret/2/a", "secret/2/b"}, grade.Pending(root, known, true))
	require.Equal(t, grade.NotRun, grade.Grade(root, known).Verdict)

	// A later test that is known does not make an earlier one unnecessary.
	late := findings(t, "sample/1=AC secret/1/b=WA secret/2/a=AC secret/2/b=AC")
	require.Equal(t, []string{"secret/1/a"}, grade.Pending(root, late, false))
	result, found := grade.Grade(root, known).Find("secret/1/b")
	require.True(t, found)
	require.Equal(t, grade.NotRun, result.Verdict)
}

func TestUnknownGraderFlagsAreNamed(t *testing.T) {
	t.Parallel()
	rule, err := grade.NewLegacyRule(true).WithFlags([]string{"summ", "min", "best"})
	require.ErrorContains(t, err, `grader flag "summ" is unknown`)
	require.ErrorContains(t, err, `grader flag "best" is unknown`)
	require.Equal(t, grade.Minimum, rule.Scores)
}

func TestRanges(t *testing.T) {
	t.Parallel()
	low, high, err := grade.ParseRange("-1.5 +inf")
	require.NoError(t, err)
	require.InDelta(t, -1.5, low, 0)
	require.Greater(t, high, 1e308)
	for text, want := range map[string]string{
		"1":     `range "1": want two numbers with a space between`,
		"1 2 3": `range "1 2 3": want two numbers with a space between`,
		"0 x":   `range: "x" is no number`,
		"0 nan": `range: "nan" is no number`,
		"2 1":   `range "2 1": want the lower number first`,
	} {
		_, _, err := grade.ParseRange(text)
		require.EqualError(t, err, want)
	}
}
