package report

import "github.com/sandloop/sandloop/internal/grade"

// figure is a number about the whole batch with what it counts.
type figure struct {
	Label, Value string
	// Alert tells that it wants to be looked at.
	Alert bool
}

// figures are the numbers at the top of the page and below the table of verdicts: those that say something.
func (s *Summary) figures() []figure {
	list := []figure{{Label: "items", Value: thousands(s.Items)}}
	add := func(when bool, label, value string, alert bool) {
		if when {
			list = append(list, figure{label, value, alert})
		}
	}
	add(s.Items > 0, "accepted", percent(s.Verdicts[grade.AC], s.Items), false)
	add(s.Promised > 0, "not as promised", thousands(s.Unexpected)+" of "+thousands(s.Promised), s.Unexpected > 0)
	add(s.Verdicts[grade.IE] > 0, "internal errors", thousands(s.Verdicts[grade.IE]), true)
	if mean := s.MeanScore(); mean != nil {
		add(true, "mean score", meanText(*mean), false)
	}
	add(s.Regraded > 0, "verdicts changed", thousands(s.Changed)+" of "+thousands(s.Regraded), s.Changed > 0)
	add(s.Tests > 0, "tests passed", thousands(s.Passed)+" of "+thousands(s.Tests), false)
	add(s.CPUTime > 0, "CPU time in all", duration(s.CPUTime), false)
	add(s.MaxCPUTime > 0, "slowest test", duration(s.MaxCPUTime), false)
	add(s.PeakMemory > 0, "most memory", memory(s.PeakMemory), false)
	add(s.Retried > 0, "tried again", thousands(s.Retried), false)
	return list
}
