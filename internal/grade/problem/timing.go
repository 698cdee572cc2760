package problem

import (
	"errors"
	"fmt"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Timing is how the package's submissions lie around the time limit.
type Timing struct {
	// SlowestAccepted and FastestTooSlow are CPU times as the format's factors want them: those of a language with a factor of
	// its own are divided by it. 0 is none.
	SlowestAccepted, FastestTooSlow time.Duration
}

// Add takes in what became of a submission.
func (g *Grading) Add(timing Timing, judged Judged) Timing {
	slowest, stood := time.Duration(0), false
	for _, test := range judged.Tests {
		slowest = max(slowest, test.CPUTime.Duration())
		stood = stood || test.Outcome == sandbox.OutcomeWallTimeout
	}
	slowest = time.Duration(float64(slowest) / g.timeFactor(judged.Language))
	if judged.BoundsBelow {
		timing.SlowestAccepted = max(timing.SlowestAccepted, slowest)
	}
	// One that waits for the clock would be too slow under any limit.
	if judged.BoundsAbove && !stood && slowest > 0 && (timing.FastestTooSlow == 0 || slowest < timing.FastestTooSlow) {
		timing.FastestTooSlow = slowest
	}
	return timing
}

// timeFactor is what a language's time limit is of the problem's.
func (g *Grading) timeFactor(language string) float64 {
	if g.Limits.Time == 0 {
		return 1
	}
	return float64(g.TimeLimit(language)) / float64(g.Limits.Time)
}

// Infer sets the time limit from the submissions that bound it below, which were judged under a limit
// of most.
func (g *Grading) Infer(judged []Judged, most time.Duration) error {
	g.Limits.Time = most
	var timing Timing
	for _, one := range judged {
		if one.Verdict == grade.IE { // perhaps it is the slowest
			return fmt.Errorf("%s could not be judged: no time limit can be inferred without it", one.Path)
		}
		for _, test := range one.Tests {
			if test.Verdict == grade.TLE {
				return fmt.Errorf("%s takes more than %v on %s: no time limit can be inferred from it", one.Path, most, test.Name)
			}
		}
		timing = g.Add(timing, one)
	}
	if timing.SlowestAccepted == 0 {
		return errors.New("the package gives no time limit and no accepted submission ran, from which one could be inferred")
	}
	g.Limits.Time = g.Limits.Infer(timing.SlowestAccepted)
	return nil
}
