package batch

import (
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

// Counts tell how far a batch is.
type Counts struct {
	// Skipped had a result from an earlier run. Submitted were handed in by this one; of these
	// Finished have a result and Canceled were canceled as the run was interrupted.
	Skipped, Submitted, Finished, Canceled int
	// Verdicts counts all results, those from earlier runs included.
	Verdicts map[grade.Verdict]int
	// Unwanted counts the results that are neither what the entry promises nor, without a promise, AC. IE is not among them.
	Unwanted int
}

// Outstanding is how many jobs are in flight.
func (c Counts) Outstanding() int { return c.Submitted - c.Finished - c.Canceled }

// Results is how many entries have a result.
func (c Counts) Results() int { return c.Skipped + c.Finished }

// Failed is how many entries could not be judged.
func (c Counts) Failed() int { return c.Verdicts[grade.IE] }

func (c *Counts) add(verdict grade.Verdict, expected []grade.Verdict, unexpected bool) {
	if c.Verdicts == nil {
		c.Verdicts = map[grade.Verdict]int{}
	}
	c.Verdicts[verdict]++
	if verdict != grade.IE && (unexpected || len(expected) == 0 && verdict != grade.AC) {
		c.Unwanted++
	}
}

func (c *Counts) finish(item report.Item) {
	c.Finished++
	c.add(item.Verdict, item.Expected, item.Unexpected)
}
