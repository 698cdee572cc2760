package judge

import (
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
)

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
	if s.stale {
		s.queue, s.stale = s.needed(), false
	}
	for ; len(s.queue) > 0; s.queue = s.queue[1:] {
		if _, judged := s.findings[s.queue[0]]; !judged {
			return s.queue[0], true
		}
	}
	return "", false
}

// needed lists the tests that are still to be judged, as far as is known.
func (s *submission) needed() []string {
	if s.task.Mode == grade.Everything {
		return s.order
	}
	if grade.Grade(s.root, s.findings).Verdict != grade.NotRun {
		return nil
	}
	pending := grade.Pending(s.root, s.findings, false)
	if s.task.Mode == grade.FirstFailure {
		return s.beforeFailure(pending)
	}
	return pending
}

// beforeFailure leaves those of the pending tests that come before all that were not accepted.
func (s *submission) beforeFailure(pending []string) []string {
	kept := 0
	for _, name := range s.order {
		if s.findings[name].Verdict.Rejects() || kept == len(pending) {
			break
		}
		if name == pending[kept] {
			kept++
		}
	}
	return pending[:kept]
}

// changes tells whether a finding can change which tests are needed. Looking through the whole tree after each of
// thousands of tests would take longer than running them.
func (s *submission) changes(verdict grade.Verdict) bool {
	switch {
	case s.task.Mode == grade.Everything:
		return false
	case verdict == grade.IE || waits(s.root):
		return true
	}
	return verdict.Rejects() && (s.task.Mode == grade.FirstFailure || breaks(s.root))
}

// waits tells whether any group is judged only after another.
func waits(group *grade.Group) bool {
	return len(group.RequirePass) > 0 || slices.ContainsFunc(group.Items, func(item grade.Item) bool { return item.Group != nil && waits(item.Group) })
}

// breaks tells whether any group ends at its first failure.
func breaks(group *grade.Group) bool {
	return group.Break || slices.ContainsFunc(group.Items, func(item grade.Item) bool { return item.Group != nil && breaks(item.Group) })
}
