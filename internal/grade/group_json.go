package grade

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxGroupDepth bounds how deep groups lie in each other. Packages have at most a dozen
// folders; what is deeper only costs whoever walks it.
const maxGroupDepth = 64

// groupJSON is a [Group] in JSON: the rule is under the name of its kind.
type groupJSON struct {
	Name        string       `json:"name,omitempty"`
	Items       []itemJSON   `json:"items,omitempty"`
	Break       bool         `json:"break,omitempty"`
	RequirePass []string     `json:"require_pass,omitempty"`
	Legacy      *legacyJSON  `json:"legacy,omitempty"`
	Scoring     *scoringJSON `json:"scoring,omitempty"`
}

type itemJSON struct {
	Test  string     `json:"test,omitempty"`
	Group *groupJSON `json:"group,omitempty"`
}

// The conversions between these and the rules fail to compile when a field is forgotten.
type legacyJSON struct {
	Verdicts     VerdictMode `json:"verdicts,omitempty"`
	Scores       ScoreMode   `json:"scores,omitempty"`
	IgnoreSample bool        `json:"ignore_sample,omitempty"`
	AcceptIfAny  bool        `json:"accept_if_any,omitempty"`
	Scoring      bool        `json:"scoring,omitempty"`
	Accept       float64     `json:"accept,omitempty"`
	Reject       float64     `json:"reject,omitempty"`
	Min          bound       `json:"min,omitempty"`
	Max          bound       `json:"max,omitempty"`
	CustomScore  bool        `json:"custom_score,omitempty"`
}

type scoringJSON struct {
	Aggregation Aggregation `json:"aggregation,omitempty"`
	Max         *float64    `json:"max,omitempty"`
	TestMax     *float64    `json:"test_max,omitempty"`
}

// MarshalJSON writes the tree. Infinite bounds are the strings "inf" and "-inf", which JSON's
// numbers lack. The error tells a rule that is missing and groups that are more than 64 deep.
func (g Group) MarshalJSON() ([]byte, error) {
	plain, err := g.plain(1)
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}

func (g Group) plain(depth int) (*groupJSON, error) {
	if depth > maxGroupDepth {
		return nil, errTooDeep
	}
	plain := &groupJSON{Name: g.Name, Break: g.Break, RequirePass: g.RequirePass}
	switch rule := g.Rule.(type) {
	case LegacyRule:
		plain.Legacy = &legacyJSON{
			rule.Verdicts, rule.Scores, rule.IgnoreSample, rule.AcceptIfAny, rule.Scoring,
			rule.Accept, rule.Reject, bound(rule.Min), bound(rule.Max), rule.CustomScore,
		}
	case ScoringRule:
		scoring := scoringJSON(rule)
		plain.Scoring = &scoring
	default:
		return nil, fmt.Errorf("group %.80q: has the rule %T: want a LegacyRule or a ScoringRule", g.Name, g.Rule)
	}
	for _, item := range g.Items {
		inner := itemJSON{Test: item.Test}
		if item.Group != nil {
			var err error
			if inner.Group, err = item.Group.plain(depth + 1); err != nil {
				return nil, err
			}
		}
		plain.Items = append(plain.Items, inner)
	}
	return plain, nil
}

var errTooDeep = fmt.Errorf("groups: lie more than %d deep in each other", maxGroupDepth)

// UnmarshalJSON reads what MarshalJSON writes. Unknown fields are refused, since a group whose
// rule is half understood would give wrong verdicts, and so are groups more than 64 deep.
func (g *Group) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var plain groupJSON // the whole tree in one pass, however deep it is
	if err := decoder.Decode(&plain); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	read, err := plain.group(1)
	if err == nil {
		*g = *read
	}
	return err
}

func (p *groupJSON) group(depth int) (*Group, error) {
	if depth > maxGroupDepth {
		return nil, errTooDeep
	}
	group := &Group{Name: p.Name, Break: p.Break, RequirePass: p.RequirePass}
	switch {
	case p.Legacy != nil && p.Scoring == nil:
		legacy := *p.Legacy
		group.Rule = LegacyRule{
			legacy.Verdicts, legacy.Scores, legacy.IgnoreSample, legacy.AcceptIfAny, legacy.Scoring,
			legacy.Accept, legacy.Reject, float64(legacy.Min), float64(legacy.Max), legacy.CustomScore,
		}
	case p.Scoring != nil && p.Legacy == nil:
		group.Rule = ScoringRule(*p.Scoring)
	default:
		return nil, fmt.Errorf("group %.80q: has no rule or two: want one of legacy, scoring", p.Name)
	}
	for _, inner := range p.Items {
		item := Item{Test: inner.Test}
		if inner.Group != nil {
			var err error
			if item.Group, err = inner.Group.group(depth + 1); err != nil {
				return nil, err
			}
		}
		group.Items = append(group.Items, item)
	}
	return group, nil
}
