package grade

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// groupChecks is a walk over a tree in the order of judging.
type groupChecks struct {
	*complaints
	// left are the suite's tests that no group has shown yet.
	left map[string]bool
	// done holds the tests and groups that are judged before the present one.
	done map[string]bool
}

// validateGroups checks that the tree holds each test once, and that each group can be judged.
func validateGroups(c *complaints, field string, root *Group, tests map[string]bool) {
	checks := groupChecks{complaints: c, left: maps.Clone(tests), done: map[string]bool{}}
	checks.group(field, root, 1)
	for _, name := range slices.Sorted(maps.Keys(checks.left)) {
		c.add(field, "the test %.80q is in no group", name)
	}
}

func (g *groupChecks) group(field string, group *Group, depth int) {
	if depth > maxGroupDepth {
		g.add(field, "lies more than %d groups deep", maxGroupDepth)
		return
	}
	if problem := badName(group.Name); problem != "" && (depth > 1 || group.Name != "") {
		g.add(field+".name", "%s", problem)
	}
	g.rule(field, group.Rule)
	for _, name := range group.RequirePass {
		if !g.done[name] {
			g.add(field+".require_pass", "%.80q is no test or group that is judged before: it would wait for ever", name)
		}
	}
	for i, item := range group.Items {
		where := fmt.Sprintf("%s.items[%d]", field, i)
		switch {
		case (item.Group == nil) == (item.Test == ""):
			g.add(where, "holds a test and a group, or neither: want one of them")
		case item.Group != nil:
			g.group(where+".group", item.Group, depth+1)
		case !g.left[item.Test]:
			g.add(where+".test", "%.80q is no test of the suite, or in two groups", item.Test)
		default:
			delete(g.left, item.Test)
			g.done[item.Test] = true
		}
	}
	g.done[group.Name] = true
}

func (g *groupChecks) rule(field string, rule Rule) {
	switch rule := rule.(type) {
	case LegacyRule:
		g.finite(field+".legacy.accept", &rule.Accept)
		g.finite(field+".legacy.reject", &rule.Reject)
		if !(rule.Min <= rule.Max) { // the negation refuses NaN
			g.add(field+".legacy", "the range is from %v to %v: want the lower number first", rule.Min, rule.Max)
		}
	case ScoringRule:
		g.finite(field+".scoring.max", rule.Max)
		g.finite(field+".scoring.test_max", rule.TestMax)
	default:
		g.add(field, "has no rule: want one of legacy, scoring")
	}
}

func (g *groupChecks) finite(field string, number *float64) {
	if number != nil && (math.IsNaN(*number) || math.IsInf(*number, 0)) {
		g.add(field, "%v: want a finite number", *number)
	}
}
