package report

import (
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
)

// rank orders items by how much they want to be looked at.
type rank struct {
	unexpected bool
	severity   int
	score      float64
	// index is the item's, and arrival its place in the results file, which makes the order strict.
	index, arrival int
}

func newRank(item Item, arrival int) rank {
	r := rank{unexpected: item.Unexpected, severity: severity(item.Verdict), index: item.Index, arrival: arrival}
	if item.Score != nil {
		r.score = *item.Score
	}
	return r
}

// severity is 0 for AC and highest for IE; what was not judged is next to AC.
func severity(v grade.Verdict) int {
	if v == grade.NotRun {
		return 1
	}
	return 2 * slices.Index(verdicts, known(v))
}

// before tells that an item comes first: an unexpected one, then the worse verdict, then the
// lower score, then the lower index.
func (r rank) before(other rank) bool {
	switch {
	case r.unexpected != other.unexpected:
		return r.unexpected
	case r.severity != other.severity:
		return r.severity > other.severity
	case r.score != other.score:
		return r.score < other.score
	case r.index != other.index:
		return r.index < other.index
	}
	return r.arrival < other.arrival
}
