package report

import (
	"github.com/sandloop/sandloop/internal/grade"
)

// row is an item in the page's tables.
type row struct {
	rank
	Index               int
	ID, Group, Language string
	Verdict             grade.Verdict
	Expected            string
	Unexpected          bool
	Previous            *previousResult
	Score               string
	Passed, Tests       int
	CPU, Wall, Memory   string
	Message             string
}

type previousResult struct {
	Verdict  grade.Verdict
	Score    string
	Rejudged int
}

func newRow(item Item, r rank) row {
	line := row{
		rank: r, Index: item.Index, ID: shorten(item.ID, maxName), Group: shorten(item.Group, maxName),
		Language: shorten(item.Language, maxName), Verdict: known(item.Verdict), Expected: shorten(verdictList(item.Expected), maxName),
		Unexpected: item.Unexpected, Score: scoreOf(item.Score), Passed: passed(item), Tests: len(item.Tests),
		CPU: duration(item.CPUTime), Wall: duration(item.WallTime), Memory: memory(item.PeakMemory),
		Message: shorten(item.Message, maxMessage),
	}
	if item.Previous != nil {
		line.Previous = &previousResult{known(item.Previous.Verdict), scoreOf(item.Previous.Score), item.Previous.Rejudged}
	}
	return line
}
