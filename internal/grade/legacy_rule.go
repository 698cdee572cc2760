package grade

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// LegacyRule is the default grader of the legacy format. The zero value, with Break on its
// group, is also the rule of every pass-fail problem since: all tests must be accepted.
type LegacyRule struct {
	// Verdicts and Scores are how verdicts and scores are joined.
	Verdicts VerdictMode
	Scores   ScoreMode
	// IgnoreSample leaves out the first of the root's two items.
	IgnoreSample bool
	// AcceptIfAny accepts the group when any item is accepted.
	AcceptIfAny bool
	// Scoring tells that the problem gives scores; the fields below count only then.
	Scoring bool
	// Accept and Reject are the scores of tests to which the validator gave none.
	Accept, Reject float64
	// Min and Max are the range of the group's score. A score outside is noted, and
	// changes nothing else, as in the reference.
	Min, Max float64
	// CustomScore tells that the validator scores (validation: custom score): then it must
	// score every output that it accepts, and may not otherwise.
	CustomScore bool
}

// VerdictMode is how the default grader joins verdicts.
type VerdictMode int

// The verdict modes.
const (
	// WorstError is the worst verdict of all items.
	WorstError VerdictMode = iota
	// FirstError is the first verdict that is not AC.
	FirstError
	// AlwaysAccept is AC.
	AlwaysAccept
)

// ScoreMode is how the default grader joins scores.
type ScoreMode int

// The score modes.
const (
	// Sum adds the scores.
	Sum ScoreMode = iota
	// Average is their mean over the items that were judged.
	Average
	// Minimum is the least.
	Minimum
	// Maximum is the greatest.
	Maximum
)

// NewLegacyRule returns the rule of a group without testdata.yaml: worst error, sum of
// scores, 1 for accepted and 0 for rejected tests, any range.
func NewLegacyRule(scoring bool) LegacyRule {
	return LegacyRule{Scoring: scoring, Accept: 1, Min: math.Inf(-1), Max: math.Inf(1)}
}

// WithFlags applies grader_flags. Of several modes the last counts. The error names every word
// that is none of the grader's flags, all of which the reference ignores.
func (r LegacyRule) WithFlags(flags []string) (LegacyRule, error) {
	var problems []error
	for _, flag := range flags {
		switch flag {
		case "worst_error", "no_errors": // no_errors is what old packages call it.
			r.Verdicts = WorstError
		case "first_error":
			r.Verdicts = FirstError
		case "always_accept":
			r.Verdicts = AlwaysAccept
		case "sum":
			r.Scores = Sum
		case "avg":
			r.Scores = Average
		case "min":
			r.Scores = Minimum
		case "max":
			r.Scores = Maximum
		case "ignore_sample":
			r.IgnoreSample = true
		case "accept_if_any_accepted":
			r.AcceptIfAny = true
		default:
			problems = append(problems, fmt.Errorf("grader flag %s is unknown: want one of worst_error, first_error, always_accept, sum, avg, min, max, ignore_sample, accept_if_any_accepted",
				excerpt([]byte(flag), 0)))
		}
	}
	return r, errors.Join(problems...)
}

func (r LegacyRule) test(finding Finding) Graded {
	result := Graded{Verdict: finding.Verdict}
	scored := finding.Score != nil || finding.Multiplier != nil
	switch {
	case finding.Verdict == IE:
		return result
	case scored && (!r.Scoring || !r.CustomScore):
		return Graded{Verdict: IE, Note: "the validator wrote a score and the problem does not say that it scores"}
	case finding.Multiplier != nil:
		return Graded{Verdict: IE, Note: "the legacy format knows no score_multiplier.txt"}
	case !r.Scoring:
		return result
	case finding.Score != nil:
		result.Score = finding.Score
		return result
	case finding.Verdict == AC && r.CustomScore:
		return Graded{Verdict: IE, Note: "the validator accepted the output and wrote no score.txt"}
	}
	score := r.Reject
	if finding.Verdict == AC {
		score = r.Accept
	}
	result.Score = &score
	return result
}

func (r LegacyRule) group(items []Graded) Graded {
	if r.IgnoreSample {
		if len(items) > 2 {
			return Graded{Verdict: IE, Note: fmt.Sprintf("ignore_sample is for the root with sample and secret, not for %d items", len(items))}
		}
		items = items[len(items)-1:]
	}
	result := Graded{Verdict: r.joinVerdicts(items)}
	if !r.Scoring {
		return result
	}
	score := r.joinScores(items)
	result.Score = &score
	if score < r.Min || score > r.Max {
		result.Note = fmt.Sprintf("the score %g is outside of the range from %g to %g", score, r.Min, r.Max)
	}
	return result
}

func (r LegacyRule) joinVerdicts(items []Graded) Verdict {
	verdicts := make([]Verdict, 0, len(items))
	for _, item := range items {
		verdicts = append(verdicts, item.Verdict)
	}
	if r.AcceptIfAny && slices.Contains(verdicts, AC) {
		return AC
	}
	switch r.Verdicts {
	case AlwaysAccept:
		return AC
	case FirstError:
		if at := slices.IndexFunc(verdicts, Verdict.Rejects); at >= 0 {
			return verdicts[at]
		}
		return AC
	case WorstError:
	}
	return Worst(verdicts...)
}

func (r LegacyRule) joinScores(items []Graded) float64 {
	scores := make([]float64, 0, len(items))
	for _, item := range items {
		scores = append(scores, scoreOf(item))
	}
	switch r.Scores {
	case Minimum:
		return slices.Min(scores)
	case Maximum:
		return slices.Max(scores)
	case Average:
		return total(scores) / float64(len(scores))
	case Sum:
	}
	return total(scores)
}

// skipped never happens to a legacy group, which requires nothing.
func (r LegacyRule) skipped(because Verdict) Graded { return Graded{Verdict: because} }

// scoreOf is an item's score, 0 where it has none, such as an empty group.
func scoreOf(item Graded) float64 {
	if item.Score == nil {
		return 0
	}
	return *item.Score
}

func total(scores []float64) float64 {
	sum := 0.0
	for _, score := range scores {
		sum += score
	}
	return sum
}

// ParseRange reads a legacy range: two numbers, the lower first, each of which may be
// inf, +inf or -inf.
func ParseRange(text string) (low, high float64, err error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return 0, 0, fmt.Errorf("range %s: want two numbers with a space between", excerpt([]byte(text), 0))
	}
	bounds := [2]float64{}
	for i, word := range words {
		var ok bool
		switch strings.ToLower(word) {
		case "inf", "+inf":
			bounds[i], ok = math.Inf(1), true
		case "-inf":
			bounds[i], ok = math.Inf(-1), true
		default:
			bounds[i], ok = parseFloat([]byte(word), false)
		}
		if !ok {
			return 0, 0, fmt.Errorf("range: %s is no number", excerpt([]byte(word), 0))
		}
	}
	if bounds[0] > bounds[1] {
		return 0, 0, fmt.Errorf("range %s: want the lower number first", excerpt([]byte(text), 0))
	}
	return bounds[0], bounds[1], nil
}
