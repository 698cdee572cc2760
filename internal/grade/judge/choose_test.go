package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Looking through all tests after each of 20,000 would take longer than running them.
func TestMostFindingsChangeNothingAboutWhichTestsAreNeeded(t *testing.T) {
	t.Parallel()
	inner := func(group *grade.Group) *grade.Group {
		group.Rule = grade.LegacyRule{}
		return &grade.Group{Items: []grade.Item{{Test: "1"}, {Group: group}}, Rule: grade.LegacyRule{}}
	}
	plain, breaking := inner(&grade.Group{}), inner(&grade.Group{Break: true})
	waiting := inner(&grade.Group{RequirePass: []string{"1"}})
	for name, tt := range map[string]struct {
		root *grade.Group
		mode grade.Mode
		// changed are the verdicts that change something.
		changed []grade.Verdict
	}{
		"no groups":                     {nil, grade.AsNeeded, []grade.Verdict{grade.WA, grade.IE}},
		"a group that breaks":           {breaking, grade.AsNeeded, []grade.Verdict{grade.WA, grade.IE}},
		"groups that go on":             {plain, grade.AsNeeded, []grade.Verdict{grade.IE}},
		"the first failure of any kind": {plain, grade.FirstFailure, []grade.Verdict{grade.WA, grade.IE}},
		"a group that waits":            {waiting, grade.AsNeeded, []grade.Verdict{grade.AC, grade.WA, grade.IE}},
		"everything":                    {waiting, grade.Everything, nil},
	} {
		suite := numbered(2)
		suite.Root = tt.root
		s := newSubmission(setup(t).Judge, sandbox.Program{}, suite, grade.Task{Mode: tt.mode})
		var changed []grade.Verdict
		for _, verdict := range []grade.Verdict{grade.AC, grade.WA, grade.IE} {
			if s.changes(verdict) {
				changed = append(changed, verdict)
			}
		}
		require.Equal(t, tt.changed, changed, name)
	}
}

func TestAGroupThatWaitedIsJudgedInItsPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rule := grade.ScoringRule{}
	suite := numbered(3)
	suite.Root = &grade.Group{Break: true, Rule: rule, Items: []grade.Item{
		{Group: &grade.Group{Name: "a", Rule: rule, Items: []grade.Item{{Test: "1"}}}},
		{Group: &grade.Group{Name: "b", Rule: rule, Items: []grade.Item{{Test: "2"}}, RequirePass: []string{"a"}}},
		{Group: &grade.Group{Name: "c", Rule: rule, Items: []grade.Item{{Test: "3"}}}},
	}}
	p := b.program("p", func(test sandbox.Test) sandbox.TestResult {
		if test.ID == "2" {
			return printed("wrong")
		}
		return echo(test)
	})
	require.Equal(t, "1=AC 2=WA ", verdicts(b.judged(t, p, grade.Task{Suite: suite})), "3 is not needed")
}
