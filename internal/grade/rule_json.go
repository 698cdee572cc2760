package grade

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// bound is the end of a range of scores, which may be infinite.
type bound float64

// MarshalJSON writes a number, "inf" or "-inf".
func (b bound) MarshalJSON() ([]byte, error) {
	switch {
	case math.IsInf(float64(b), 1):
		return []byte(`"inf"`), nil
	case math.IsInf(float64(b), -1):
		return []byte(`"-inf"`), nil
	}
	return json.Marshal(float64(b))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *bound) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"inf"`:
		*b = bound(math.Inf(1))
		return nil
	case `"-inf"`:
		*b = bound(math.Inf(-1))
		return nil
	}
	var number float64
	if err := json.Unmarshal(data, &number); err != nil {
		return fmt.Errorf(`the bound %.40s is no number: want one, "inf" or "-inf"`, data)
	}
	*b = bound(number)
	return nil
}

// The modes in JSON, in the order of their constants.
var (
	verdictModes = []string{"worst_error", "first_error", "always_accept"}
	scoreModes   = []string{"sum", "avg", "min", "max"}
	aggregations = []string{"pass_fail", "sum", "min", "unscored", "secret"}
)

// MarshalText writes the mode as the grader flag does.
func (m VerdictMode) MarshalText() ([]byte, error) { return wordOf(verdictModes, int(m)) }

// UnmarshalText reads what MarshalText writes.
func (m *VerdictMode) UnmarshalText(text []byte) error {
	return readWord(verdictModes, text, (*int)(m))
}

// MarshalText writes the mode as the grader flag does.
func (m ScoreMode) MarshalText() ([]byte, error) { return wordOf(scoreModes, int(m)) }

// UnmarshalText reads what MarshalText writes.
func (m *ScoreMode) UnmarshalText(text []byte) error { return readWord(scoreModes, text, (*int)(m)) }

// MarshalText writes pass_fail, sum, min, unscored or secret.
func (a Aggregation) MarshalText() ([]byte, error) { return wordOf(aggregations, int(a)) }

// UnmarshalText reads what MarshalText writes.
func (a *Aggregation) UnmarshalText(text []byte) error {
	return readWord(aggregations, text, (*int)(a))
}

func wordOf(words []string, mode int) ([]byte, error) {
	if mode < 0 || mode >= len(words) {
		return nil, errors.New("mode is unknown: want one of " + strings.Join(words, ", "))
	}
	return []byte(words[mode]), nil
}

func readWord(words []string, text []byte, mode *int) error {
	at := slices.Index(words, string(text))
	if at < 0 {
		return fmt.Errorf("%.40q is unknown: want one of %s", text, strings.Join(words, ", "))
	}
	*mode = at
	return nil
}
