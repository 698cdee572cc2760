package grade_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

func TestGroupsComeBackFromJSON(t *testing.T) {
	t.Parallel()
	everyField := grade.LegacyRule{
		Verdicts: grade.AlwaysAccept, Scores: grade.Maximum, IgnoreSample: true, AcceptIfAny: true, Scoring: true,
		Accept: 1.5, Reject: -0.25, Min: math.Inf(-1), Max: math.Inf(1), CustomScore: true,
	}
	for name, root := range map[string]*grade.Group{
		"olympiad":           subtasks(t),
		"scoring":            scored(),
		"the zero rule":      {Rule: grade.LegacyRule{}, Break: true, Items: tests("a")},
		"every field":        {Name: "x", Rule: everyField, RequirePass: []string{"sample", "a"}, Items: tests("a", "b")},
		"bounds turned over": {Rule: grade.LegacyRule{Min: math.Inf(1), Max: math.Inf(-1)}},
		"nil maxima":         {Rule: grade.ScoringRule{Aggregation: grade.MinOfItems}},
		"a maximum of 0":     {Rule: grade.ScoringRule{Aggregation: grade.ScoreOfSecret, Max: score(0), TestMax: score(1e-9)}},
		"first error, avg":   {Rule: grade.LegacyRule{Verdicts: grade.FirstError, Scores: grade.Average}},
		"worst error, min":   {Rule: grade.LegacyRule{Verdicts: grade.WorstError, Scores: grade.Minimum}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(root)
			require.NoError(t, err)
			var back *grade.Group
			require.NoError(t, json.Unmarshal(text, &back), string(text))
			require.Equal(t, root, back)
		})
	}
}

// The names in JSON are a contract with what is stored already.
func TestGroupInJSON(t *testing.T) {
	t.Parallel()
	root := grade.Group{Rule: grade.NewLegacyRule(true), Items: []grade.Item{{Test: "s"}, {Group: &grade.Group{
		Name: "secret/1", Break: true, RequirePass: []string{"s"}, Items: tests("a"),
		Rule: grade.ScoringRule{Aggregation: grade.SumOfItems, Max: score(30)},
	}}}}
	text, err := json.Marshal(root)
	require.NoError(t, err)
	require.JSONEq(t, `{"items":[{"test":"s"},{"group":{"name":"secret/1","break":true,"require_pass":["s"],"items":[{"test":"a"}],
		"scoring":{"aggregation":"sum","max":30}}}],"legacy":{"scoring":true,"accept":1,"min":"-inf","max":"inf"}}`, string(text))
}

// deep is a chain of groups in JSON.
func deep(depth int) string {
	return strings.Repeat(`{"legacy":{},"items":[{"group":`, depth-1) + `{"legacy":{}}` + strings.Repeat(`}]}`, depth-1)
}

func TestGroupsInJSONAreRefused(t *testing.T) {
	t.Parallel()
	require.NoError(t, json.Unmarshal([]byte(deep(64)), &grade.Group{}))
	for name, test := range map[string]struct{ text, want string }{
		"too deep":             {deep(65), "groups: lie more than 64 deep in each other"},
		"far too deep":         {deep(3000), "groups: lie more than 64 deep in each other"},
		"no rule":              {`{"name":"a"}`, `group "a": has no rule or two: want one of legacy, scoring`},
		"two rules":            {`{"legacy":{},"scoring":{}}`, "has no rule or two"},
		"no rule inside":       {`{"legacy":{},"items":[{"group":{"name":"b"}}]}`, `group "b": has no rule`},
		"an unknown field":     {`{"legacy":{},"items":[{"test":"a","weight":2}]}`, `unknown field "weight"`},
		"an unknown mode":      {`{"legacy":{"verdicts":"best"}}`, `"best" is unknown: want one of worst_error, first_error, always_accept`},
		"an unknown score":     {`{"legacy":{"scores":"median"}}`, `"median" is unknown: want one of sum, avg, min, max`},
		"an unknown aggregate": {`{"scoring":{"aggregation":"max"}}`, `"max" is unknown: want one of pass_fail, sum, min, unscored, secret`},
		"a bound in words":     {`{"legacy":{"max":"many"}}`, `the bound "many" is no number: want one, "inf" or "-inf"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, json.Unmarshal([]byte(test.text), &grade.Group{}), test.want)
		})
	}
}

func TestGroupsThatJSONCannotHold(t *testing.T) {
	t.Parallel()
	cycle := &grade.Group{Rule: grade.LegacyRule{}}
	cycle.Items = groups(cycle)
	for name, test := range map[string]struct {
		root *grade.Group
		want string
	}{
		"no rule":         {&grade.Group{Name: "a"}, `group "a": has the rule <nil>: want a LegacyRule or a ScoringRule`},
		"in itself":       {cycle, "groups: lie more than 64 deep in each other"},
		"an unknown mode": {&grade.Group{Rule: grade.LegacyRule{Verdicts: 9}}, "mode is unknown: want one of worst_error"},
		"not a number":    {&grade.Group{Rule: grade.LegacyRule{Min: math.NaN()}}, "NaN"},
		"infinite points": {&grade.Group{Rule: grade.LegacyRule{Accept: math.Inf(1)}}, "Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := json.Marshal(test.root)
			require.ErrorContains(t, err, test.want)
		})
	}
}
