package problem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
)

// Expectation is what a package promises of one of its submissions.
type Expectation struct {
	// Final are the verdicts that the submission as a whole may have; nil is any.
	Final []grade.Verdict
	// Rules bind its tests.
	Rules []ExpectationRule
}

// ExpectationRule is a promise about the tests in a scope.
type ExpectationRule struct {
	// Scope is a pattern for tests and groups below data; "" is everything.
	Scope string
	// Permitted and Required hold classes (AC, WA, TLE, RTE): every test's must be among the
	// first, and at least one test's among the second. nil asks nothing.
	Permitted, Required []string
	// Low and High bound the score of the scope; nil is no bound. An empty scope is the submission.
	Low, High *float64
	// Message must be part of the message of at least one test.
	Message string
	// UseForLower and UseForUpper tell that the tests' times bound the time limit.
	UseForLower, UseForUpper bool
	// Advice makes a violation a warning.
	Advice bool
}

// Empty tells that nothing is promised.
func (e Expectation) Empty() bool { return len(e.Final) == 0 && len(e.Rules) == 0 }

// Outcome is how a submission fared.
type Outcome struct {
	// Result is of the whole tree, from grade.Grade.
	Result grade.Graded
	// Findings are by test name. All tests must be there when rules bind single tests.
	Findings map[string]grade.Finding
}

// Check tells what of the promise did not come true: violations and, from advice, warnings.
func (e Expectation) Check(outcome Outcome) (violations, warnings []string) {
	final := outcome.Result.Verdict
	if len(e.Final) > 0 && !slices.Contains(e.Final, final) {
		violations = append(violations, fmt.Sprintf("got %s, want %s", final, joinVerdicts(e.Final)))
	}
	for _, rule := range e.Rules {
		broken := rule.check(outcome)
		if rule.Advice {
			warnings = append(warnings, broken...)
		} else {
			violations = append(violations, broken...)
		}
	}
	return violations, warnings
}

func joinVerdicts(verdicts []grade.Verdict) string {
	words := make([]string, 0, len(verdicts))
	for _, verdict := range verdicts {
		words = append(words, string(verdict))
	}
	return strings.Join(words, " or ")
}

func (r ExpectationRule) check(outcome Outcome) []string {
	var broken []string
	names := r.testsInScope(outcome)
	if r.Permitted != nil {
		for _, name := range names {
			verdict := outcome.Findings[name].Verdict
			if verdict != grade.NotRun && !slices.Contains(r.Permitted, verdict.Class()) {
				broken = append(broken, fmt.Sprintf("got %s on %s%s, want %s", verdict, name, r.where(), strings.Join(r.Permitted, " or ")))
				break
			}
		}
	}
	if r.Required != nil && !slices.ContainsFunc(names, func(name string) bool {
		return slices.Contains(r.Required, outcome.Findings[name].Verdict.Class())
	}) {
		broken = append(broken, fmt.Sprintf("got %s on no test%s", strings.Join(r.Required, " or "), r.where()))
	}
	if r.Message != "" && !slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains(outcome.Findings[name].Message, r.Message)
	}) {
		broken = append(broken, fmt.Sprintf("no test%s has a message with %q", r.where(), shorten(r.Message)))
	}
	return append(broken, r.checkScore(outcome.Result)...)
}

func (r ExpectationRule) where() string {
	if r.Scope == "" {
		return ""
	}
	return " in " + r.Scope
}

// testsInScope lists the tests with a finding, in order of their names.
func (r ExpectationRule) testsInScope(outcome Outcome) []string {
	var names []string
	for name := range outcome.Findings {
		if r.Scope == "" || matchesPathOrParent(r.Scope, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r ExpectationRule) checkScore(result grade.Graded) []string {
	if r.Low == nil && r.High == nil {
		return nil
	}
	var broken []string
	for _, node := range scored(result) {
		inScope := r.Scope == "" && node.Name == "" || r.Scope != "" && matchesPath(r.Scope, node.Name)
		if !inScope {
			continue
		}
		score := *node.Score
		if r.Low != nil && score < *r.Low || r.High != nil && score > *r.High {
			broken = append(broken, fmt.Sprintf("got the score %g%s, want %s", score, r.where(), r.scoreRange()))
		}
	}
	return broken
}

func (r ExpectationRule) scoreRange() string {
	switch {
	case r.Low == nil:
		return fmt.Sprintf("at most %g", *r.High)
	case r.High == nil:
		return fmt.Sprintf("at least %g", *r.Low)
	case *r.Low == *r.High:
		return fmt.Sprintf("%g", *r.Low)
	}
	return fmt.Sprintf("%g to %g", *r.Low, *r.High)
}

// scored lists the groups with a score.
func scored(result grade.Graded) []grade.Graded {
	var nodes []grade.Graded
	if result.Score != nil {
		nodes = append(nodes, result)
	}
	for _, item := range result.Items {
		nodes = append(nodes, scored(item)...)
	}
	return nodes
}
