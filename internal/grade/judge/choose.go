package judge

import "github.com/sandloop/sandloop/internal/grade"

// rootOf returns the suite's tree of groups, or makes the one of a suite without groups.
func rootOf(suite *grade.Suite) *grade.Group {
	if suite.Root != nil {
		return suite.Root
	}
	root := &grade.Group{Break: true, Rule: grade.LegacyRule{}}
	if suite.Checker.CustomScore {
		rule := grade.NewLegacyRule(true)
		rule.CustomScore = true
		root.Break, root.Rule = false, rule
	}
	for _, test := range suite.Tests {
		root.Items = append(root.Items, grade.Item{Test: test.Name})
	}
	return root
}

// choose returns the name of the test to judge next, and false when there is none.
func (s *submission) choose() (string, bool) {
	switch s.task.Mode {
	case grade.Everything:
		return s.firstUnjudged(s.order)
	case grade.FirstFailure:
		return s.beforeFailure()
	case grade.AsNeeded:
	}
	if grade.Grade(s.root, s.findings).Verdict != grade.NotRun {
		return "", false
	}
	return s.firstUnjudged(grade.Pending(s.root, s.findings, false))
}

func (s *submission) firstUnjudged(names []string) (string, bool) {
	for _, name := range names {
		if _, judged := s.findings[name]; !judged {
			return name, true
		}
	}
	return "", false
}

// beforeFailure returns the first pending test, unless a test before it was not accepted.
func (s *submission) beforeFailure() (string, bool) {
	next, more := s.firstUnjudged(grade.Pending(s.root, s.findings, false))
	for _, name := range s.order {
		if name == next {
			break
		}
		if s.findings[name].Verdict.Rejects() {
			return "", false
		}
	}
	return next, more
}
