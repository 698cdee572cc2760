package problem

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Judged is what became of a submission of the package.
type Judged struct {
	Submission
	// Language is the name of its row in the language table, "" when that is not known.
	Language string
	// Verdict is what the report on it says, and Message why. Of one that could not be run they say so.
	Verdict grade.Verdict
	Message string
	// Tests are the reports on its tests.
	Tests []grade.TestReport
}

// Outcome grades the submission as under a time limit, which may be less than what it was given: a test
// that took more is too slow.
func (j Judged) Outcome(root *grade.Group, limit time.Duration) Outcome {
	outcome := Outcome{Findings: map[string]grade.Finding{}}
	for _, test := range j.Tests {
		finding := test.Finding
		if limit > 0 && test.CPUTime > sandbox.Seconds(limit) && finding.Verdict != grade.IE {
			finding = grade.Finding{Verdict: grade.TLE, Message: fmt.Sprintf("took %v of CPU time, more than the limit of %v", test.CPUTime.Duration(), limit)}
		}
		outcome.Findings[test.Name] = finding
	}
	if len(j.Tests) == 0 {
		outcome.Result = grade.Graded{Verdict: j.Verdict, Note: j.Message}
		return outcome
	}
	outcome.Result = grade.Grade(root, outcome.Findings)
	return outcome
}

// Decisive names the first test in order that has the verdict of the whole, if that rejects.
func (o Outcome) Decisive(root *grade.Group) string {
	for _, name := range root.Tests() {
		if verdict := o.Findings[name].Verdict; verdict.Rejects() && verdict == o.Result.Verdict {
			return name
		}
	}
	return ""
}

// CheckJudged is Check, and tells also that a submission was not judged on any test, which no rule
// on tests would see.
func (e Expectation) CheckJudged(outcome Outcome) (violations, warnings []string) {
	verdict := outcome.Result.Verdict
	if len(outcome.Findings) == 0 && !slices.Contains(e.Final, verdict) && !e.Empty() {
		return []string{fmt.Sprintf("got %s, want %s", verdict, e)}, nil
	}
	return e.Check(outcome)
}

// Verdicts are those that the submission as a whole may have, as far as that follows from what is promised; nil is any.
func (e Expectation) Verdicts() []grade.Verdict {
	if len(e.Final) > 0 {
		return e.Final
	}
	for _, rule := range e.Rules {
		classes := rule.Required
		if classes == nil {
			classes = rule.Permitted
		}
		if rule.Scope != "" || rule.Advice || classes == nil {
			continue
		}
		var verdicts []grade.Verdict
		for _, verdict := range grade.Verdicts() {
			if slices.Contains(classes, verdict.Class()) {
				verdicts = append(verdicts, verdict)
			}
		}
		return verdicts
	}
	return nil
}

// String says in short what is promised, such as "WA", "AC or WA, score 70" or "secret/easy: AC".
func (e Expectation) String() string {
	var parts []string
	if len(e.Final) > 0 {
		parts = append(parts, joinVerdicts(e.Final))
	}
	for _, rule := range e.Rules {
		if rule.Advice {
			continue
		}
		pieces := rule.pieces()
		if rule.Scope != "" && len(pieces) > 0 {
			pieces = []string{rule.Scope + ": " + strings.Join(pieces, ", ")}
		}
		for _, piece := range pieces {
			if !slices.Contains(parts, piece) {
				parts = append(parts, piece)
			}
		}
	}
	if len(parts) == 0 {
		return "anything"
	}
	return strings.Join(parts, ", ")
}

// pieces are what the rule asks for, each in short.
func (r ExpectationRule) pieces() []string {
	var pieces []string
	switch {
	case r.Required != nil:
		pieces = append(pieces, strings.Join(r.Required, " or "))
	case r.Permitted != nil:
		pieces = append(pieces, strings.Join(r.Permitted, " or "))
	}
	if r.Low != nil || r.High != nil {
		pieces = append(pieces, "score "+r.scoreRange())
	}
	if r.Message != "" {
		pieces = append(pieces, fmt.Sprintf("message %q", shorten(r.Message)))
	}
	return pieces
}

// BindsTests tells that rules ask something of single tests, so that all must be judged.
func (s Submission) BindsTests() bool {
	return s.BoundsBelow || slices.ContainsFunc(s.Expect.Rules, func(rule ExpectationRule) bool {
		return !rule.Advice && (rule.Permitted != nil || rule.Required != nil || rule.Message != "")
	})
}
