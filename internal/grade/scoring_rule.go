package grade

import (
	"fmt"
	"math"
)

// ScoringRule is what the format since 2023-07 says of scoring problems. A test that is
// not accepted scores 0.
type ScoringRule struct {
	Aggregation Aggregation
	// Max is the most that the group can score; nil is unbounded. More is IE.
	Max *float64
	// TestMax is the most that each test of the group can score, and what it does score unless
	// the validator says otherwise; nil is unbounded, and then the validator must say.
	TestMax *float64
}

// Aggregation is how a group of a scoring problem is scored.
type Aggregation int

// The aggregations.
const (
	// PassFail scores Max when every test is accepted and 0 otherwise; without a Max there is no score.
	PassFail Aggregation = iota
	// SumOfItems adds the items' scores.
	SumOfItems
	// MinOfItems is the least of the items' scores.
	MinOfItems
	// Unscored is for sample: its tests are judged and give no score.
	Unscored
	// ScoreOfSecret is for the root: the score of its item secret is the submission's.
	ScoreOfSecret
)

// ShareOut returns what each of a group's items without a maximum of its own can score at most: max
// under MinOfItems, an equal part of what taken leaves of max under SumOfItems, nil when max is
// unbounded. The error tells that the items that have one take more than there is.
func ShareOut(aggregation Aggregation, maximum *float64, taken float64, sharing int) (*float64, error) {
	if maximum == nil || aggregation == PassFail || aggregation == Unscored {
		return nil, nil
	}
	if aggregation == MinOfItems {
		share := *maximum
		return &share, nil
	}
	if taken > *maximum+scoreSlack(*maximum) {
		return nil, fmt.Errorf("the maximum scores of the parts add up to %g: want at most the group's %g", taken, *maximum)
	}
	share := (*maximum - taken) / float64(max(1, sharing))
	return &share, nil
}

// scoreSlack is what rounding may add to a score: 100 points shared by 3 tests
// add up to a little more or less than 100.
func scoreSlack(maximum float64) float64 { return 1e-9 * math.Max(1, maximum) }

func (r ScoringRule) test(finding Finding) Graded {
	result := Graded{Verdict: finding.Verdict}
	if finding.Verdict == IE || r.Aggregation == Unscored {
		return result
	}
	if note := r.misuse(finding); note != "" {
		return Graded{Verdict: IE, Note: note}
	}
	if r.Aggregation == PassFail {
		return result
	}
	score := 0.0
	switch {
	case finding.Verdict != AC:
	case finding.Score != nil:
		score = *finding.Score
	case finding.Multiplier != nil:
		score = *finding.Multiplier * *r.TestMax
	default:
		score = *r.TestMax
	}
	result.Score = &score
	return result
}

// misuse says which of the format's judge errors the validator's scores are, if any.
func (r ScoringRule) misuse(finding Finding) string {
	scored := finding.Score != nil || finding.Multiplier != nil
	switch {
	case finding.Verdict != AC && scored:
		return "the validator wrote a score and rejected the output"
	case r.Aggregation == PassFail && scored:
		return "the validator wrote a score for a test of a group with pass-fail aggregation"
	case r.Aggregation == PassFail || finding.Verdict != AC:
		return ""
	case finding.Score != nil && finding.Multiplier != nil:
		return "the validator wrote both score.txt and score_multiplier.txt"
	case finding.Score != nil && *finding.Score < 0:
		return fmt.Sprintf("the validator wrote the score %g: want no negative number", *finding.Score)
	case r.TestMax == nil && finding.Multiplier != nil:
		return "the validator wrote score_multiplier.txt for a test without a maximum score"
	case r.TestMax == nil && finding.Score == nil:
		return "the validator accepted a test without a maximum score and wrote no score.txt"
	case r.TestMax != nil && finding.Score != nil && *finding.Score > *r.TestMax+scoreSlack(*r.TestMax):
		return fmt.Sprintf("the validator wrote the score %g: want at most %g", *finding.Score, *r.TestMax)
	}
	return ""
}

func (r ScoringRule) group(items []Graded) Graded {
	verdicts := make([]Verdict, 0, len(items))
	for _, item := range items {
		verdicts = append(verdicts, item.Verdict)
	}
	result := Graded{Verdict: Worst(verdicts...)}
	if r.Aggregation == Unscored || r.Aggregation == PassFail && r.Max == nil {
		return result
	}
	score := r.score(result.Verdict, items)
	if r.Max != nil && score > *r.Max+scoreSlack(*r.Max) {
		return Graded{Verdict: IE, Note: fmt.Sprintf("the score %g is more than the group's maximum of %g", score, *r.Max)}
	}
	result.Score = &score
	return result
}

func (r ScoringRule) score(verdict Verdict, items []Graded) float64 {
	sum, least := 0.0, math.Inf(1)
	for _, item := range items {
		sum += scoreOf(item)
		least = math.Min(least, scoreOf(item))
	}
	switch r.Aggregation {
	case PassFail:
		if verdict == AC {
			return *r.Max
		}
		return 0
	case MinOfItems:
		return least
	case ScoreOfSecret:
		secret, _ := Graded{Items: items}.Find("secret")
		return scoreOf(secret)
	case SumOfItems, Unscored:
	}
	return sum
}

// skipped is a group that was not judged: it scores 0 and counts as rejected.
func (r ScoringRule) skipped(because Verdict) Graded {
	zero := 0.0
	return Graded{Verdict: because, Score: &zero}
}
