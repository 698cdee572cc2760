package report

import (
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Summary is what many items have in common. Its size does not depend on their number. The zero
// value is ready for use by one goroutine at a time.
type Summary struct {
	Items int `json:"items"`
	// Verdicts counts the items by verdict; NotRun is among them as the empty one.
	Verdicts map[grade.Verdict]int `json:"verdicts"`
	// Promised counts the items with expected verdicts, and Unexpected those that got another.
	Promised   int `json:"promised"`
	Unexpected int `json:"unexpected"`
	// Regraded counts the items with a previous result, and Changed those whose verdict is a new one.
	Regraded int `json:"regraded"`
	Changed  int `json:"changed"`
	// Retried counts the items that needed more than one attempt.
	Retried int `json:"retried"`
	// Tests counts the tests that were judged, and Passed those that were accepted.
	Tests  int `json:"tests"`
	Passed int `json:"passed"`
	// Scored counts the items that have a score, and ScoreSum adds the scores up.
	Scored   int     `json:"scored"`
	ScoreSum float64 `json:"score_sum"`
	// CPUTime and WallTime are those of all tests together; for an item without tests they are the item's.
	CPUTime  sandbox.Seconds `json:"cpu_seconds"`
	WallTime sandbox.Seconds `json:"wall_seconds"`
	// MaxCPUTime and PeakMemory are the most of any item.
	MaxCPUTime sandbox.Seconds `json:"max_cpu_seconds"`
	PeakMemory int64           `json:"peak_memory_bytes"`
	// First and Last are when the first and the last item were done.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
}

// Summarize adds up all items. It ranges over them once and stops at their first error.
func Summarize(items iter.Seq2[Item, error]) (Summary, error) {
	var s Summary
	for item, err := range items {
		if err != nil {
			return s, err
		}
		s.Add(item)
	}
	return s, nil
}

// Add counts an item.
func (s *Summary) Add(item Item) {
	if s.Verdicts == nil {
		s.Verdicts = make(map[grade.Verdict]int, len(verdicts))
	}
	s.Items++
	s.Verdicts[known(item.Verdict)]++
	s.Promised += count(len(item.Expected) > 0)
	s.Unexpected += count(item.Unexpected)
	if item.Previous != nil {
		s.Regraded++
		s.Changed += count(item.Previous.Verdict != item.Verdict)
	}
	s.Retried += count(item.Attempts > 1)
	s.Tests += len(item.Tests)
	s.Passed += passed(item)
	if item.Score != nil {
		s.Scored++
		s.ScoreSum += *item.Score
	}
	cpu, wall := itemTimes(item)
	s.CPUTime, s.WallTime = plus(s.CPUTime, cpu), plus(s.WallTime, wall)
	s.MaxCPUTime = max(s.MaxCPUTime, item.CPUTime)
	s.PeakMemory = max(s.PeakMemory, item.PeakMemory)
	if at := item.FinishedAt; !at.IsZero() {
		if s.First.IsZero() || at.Before(s.First) {
			s.First = at
		}
		if at.After(s.Last) {
			s.Last = at
		}
	}
}

// MeanScore is the mean of the scores, and nil when no item has one.
func (s *Summary) MeanScore() *float64 {
	if s.Scored == 0 {
		return nil
	}
	mean := s.ScoreSum / float64(s.Scored)
	return &mean
}

// itemTimes adds up the times of an item's tests.
func itemTimes(item Item) (cpu, wall sandbox.Seconds) {
	if len(item.Tests) == 0 {
		return item.CPUTime, item.WallTime
	}
	for _, test := range item.Tests {
		cpu, wall = plus(cpu, test.CPUTime), plus(wall, test.WallTime)
	}
	return cpu, wall
}

// plus adds times of which a file may hold any, and stays at the largest instead of wrapping around.
func plus(a, b sandbox.Seconds) sandbox.Seconds {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + max(b, 0)
}

// seconds formats a time as its JSON is.
func seconds(s sandbox.Seconds) string {
	return strconv.FormatFloat(math.Round(s.Duration().Seconds()*1e6)/1e6, 'f', -1, 64)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// verdicts are all that an item can have, from the best to the worst, and NotRun last.
var verdicts = append(grade.Verdicts(), grade.NotRun)

// known is the verdict, and IE for one that is none, which only a caller's mistake can bring here.
func known(v grade.Verdict) grade.Verdict {
	for _, verdict := range verdicts {
		if v == verdict {
			return v
		}
	}
	return grade.IE
}
