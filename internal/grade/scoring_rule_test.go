package grade_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

func number(t *testing.T, text string) *float64 {
	t.Helper()
	value, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return &value
}

// scored is a root whose secret has three groups: easy is pass-fail for 20 points, parts gives
// 60 for its three tests, 20 each, and least 20 for the worst of its tests. parts requires
// easy, and easy requires sample.
func scored() *grade.Group {
	easy := &grade.Group{
		Name: "secret/easy", Items: tests("e1", "e2"), Break: true, RequirePass: []string{"sample"},
		Rule: grade.ScoringRule{Aggregation: grade.PassFail, Max: score(20)},
	}
	parts := &grade.Group{
		Name: "secret/parts", Items: tests("p1", "p2", "p3"), RequirePass: []string{"secret/easy"},
		Rule: grade.ScoringRule{Aggregation: grade.SumOfItems, Max: score(60), TestMax: score(20)},
	}
	least := &grade.Group{
		Name: "secret/zleast", Items: tests("m1", "m2"), Break: true,
		Rule: grade.ScoringRule{Aggregation: grade.MinOfItems, Max: score(20), TestMax: score(20)},
	}
	secret := &grade.Group{Name: "secret", Items: groups(easy, parts, least), Rule: grade.ScoringRule{Aggregation: grade.SumOfItems, Max: score(100)}}
	sample := &grade.Group{Name: "sample", Items: tests("s1"), Rule: grade.ScoringRule{Aggregation: grade.Unscored}}
	return &grade.Group{Items: groups(sample, secret), Rule: grade.ScoringRule{Aggregation: grade.ScoreOfSecret}}
}

func TestScoringGroups(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		findings string
		verdict  grade.Verdict
		score    float64
	}{
		"everything":                        {"s1=AC e1=AC e2=AC p1=AC p2=AC p3=AC m1=AC m2=AC", grade.AC, 100},
		"two of three parts":                {"s1=AC e1=AC e2=AC p1=AC p2=WA p3=AC m1=AC m2=AC", grade.WA, 80},
		"factors and scores of a validator": {"s1=AC e1=AC e2=AC p1=AC:*0.5 p2=AC:7.5 p3=AC m1=AC:12 m2=AC", grade.AC, 20 + 10 + 7.5 + 20 + 12},
		"half of pass-fail is nothing":      {"s1=AC e1=AC e2=TLE m1=AC m2=AC", grade.TLE, 20},
		"the least is nothing at all":       {"s1=AC e1=AC e2=AC p1=AC p2=AC p3=AC m1=RE", grade.RE, 80},
		"sample fails what requires it":     {"s1=WA m1=AC m2=AC", grade.WA, 20},
		"a score of the sample is ignored":  {"s1=AC:5 e1=AC e2=AC p1=AC p2=AC p3=AC m1=AC m2=AC", grade.AC, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := findings(t, test.findings)
			require.Empty(t, grade.Pending(scored(), known, false))
			got := grade.Grade(scored(), known)
			require.Equal(t, test.verdict, got.Verdict, got.Note)
			require.InDelta(t, test.score, *got.Score, 1e-12)
		})
	}
}

func TestAGroupWaitsForWhatItRequires(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"s1", "m1", "m2"}, grade.Pending(scored(), nil, false))
	require.Equal(t, []string{"e1", "e2", "m1", "m2"}, grade.Pending(scored(), findings(t, "s1=AC"), false))

	got := grade.Grade(scored(), findings(t, "s1=AC e1=WA m1=AC m2=AC"))
	parts, found := got.Find("secret/parts")
	require.True(t, found)
	require.Equal(t, grade.WA, parts.Verdict)
	require.Equal(t, score(0), parts.Score)
	require.Equal(t, "not judged: secret/easy is WA", parts.Note)
	require.Equal(t, []grade.Graded{{Name: "p1"}, {Name: "p2"}, {Name: "p3"}}, parts.Items)
}

func TestJudgeErrorsOfScoring(t *testing.T) {
	t.Parallel()
	bounded := grade.ScoringRule{Aggregation: grade.SumOfItems, Max: score(10), TestMax: score(5)}
	unbounded := grade.ScoringRule{Aggregation: grade.SumOfItems}
	for name, test := range map[string]struct {
		rule    grade.ScoringRule
		finding string
		note    string
	}{
		"a score for a rejected output": {bounded, "a=WA:1 b=AC", "the validator wrote a score and rejected the output"},
		"a score in pass-fail":          {grade.ScoringRule{Aggregation: grade.PassFail, Max: score(1)}, "a=AC:1 b=AC", "the validator wrote a score for a test of a group with pass-fail aggregation"},
		"a negative score":              {bounded, "a=AC:-1 b=AC", "the validator wrote the score -1: want no negative number"},
		"more than there is":            {bounded, "a=AC:5.5 b=AC", "the validator wrote the score 5.5: want at most 5"},
		"a factor of nothing":           {unbounded, "a=AC:*0.5 b=AC:1", "the validator wrote score_multiplier.txt for a test without a maximum score"},
		"no score where one is needed":  {unbounded, "a=AC b=AC:1", "the validator accepted a test without a maximum score and wrote no score.txt"},
		"a group over its maximum":      {grade.ScoringRule{Aggregation: grade.SumOfItems, Max: score(9), TestMax: score(5)}, "a=AC b=AC", "the score 10 is more than the group's maximum of 9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := grade.Grade(&grade.Group{Items: tests("a", "b"), Rule: test.rule}, findings(t, test.finding))
			require.Equal(t, grade.IE, got.Verdict)
			require.Equal(t, test.note, got.Note)
		})
	}
	both := findings(t, "b=AC")
	both["a"] = grade.Finding{Verdict: grade.AC, Score: score(1), Multiplier: score(1)}
	require.Equal(t, grade.IE, grade.Grade(&grade.Group{Items: tests("a", "b"), Rule: bounded}, both).Verdict)
}

func TestUnboundedScores(t *testing.T) {
	t.Parallel()
	rule := grade.ScoringRule{Aggregation: grade.SumOfItems}
	got := grade.Grade(&grade.Group{Items: tests("a", "b", "c"), Rule: rule}, findings(t, "a=AC:1000000 b=WA c=AC:0.25"))
	require.Equal(t, score(1000000.25), got.Score)
	require.Equal(t, grade.WA, got.Verdict)
}

func TestSharesOfAMaximum(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		aggregation grade.Aggregation
		maximum     *float64
		taken       float64
		sharing     int
		want        *float64
	}{
		"four tests of 100":               {grade.SumOfItems, score(100), 0, 4, score(25)},
		"what others leave":               {grade.SumOfItems, score(100), 40, 3, score(20)},
		"nothing is left":                 {grade.SumOfItems, score(100), 100, 2, score(0)},
		"nobody shares":                   {grade.SumOfItems, score(100), 100, 0, score(0)},
		"the least may be the whole":      {grade.MinOfItems, score(100), 0, 4, score(100)},
		"unbounded":                       {grade.SumOfItems, nil, 0, 4, nil},
		"pass-fail has no parts":          {grade.PassFail, score(100), 0, 4, nil},
		"seventy by seven is exactly ten": {grade.SumOfItems, score(70), 0, 7, score(10)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := grade.ShareOut(test.aggregation, test.maximum, test.taken, test.sharing)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	_, err := grade.ShareOut(grade.SumOfItems, score(100), 101, 1)
	require.EqualError(t, err, "the maximum scores of the parts add up to 101: want at most the group's 100")
}

func TestSharesThatDoNotAddUpInBinaryAreNoJudgeError(t *testing.T) {
	t.Parallel()
	share, err := grade.ShareOut(grade.SumOfItems, score(0.3), 0, 3)
	require.NoError(t, err)
	rule := grade.ScoringRule{Aggregation: grade.SumOfItems, Max: score(0.3), TestMax: share}
	got := grade.Grade(&grade.Group{Items: tests("a", "b", "c"), Rule: rule}, findings(t, "a=AC b=AC c=AC"))
	require.Equal(t, grade.AC, got.Verdict, got.Note)
	require.InDelta(t, 0.3, *got.Score, 1e-12)
}
