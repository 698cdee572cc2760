package grade

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// TokenOptions are the options of the format's default output validator. The zero value
// compares tokens without regard to the case of ASCII letters or to white space.
type TokenOptions struct {
	// CaseSensitive tells A from a.
	CaseSensitive bool `json:"case_sensitive,omitempty"`
	// SpaceSensitive demands the very white space of the answer, at both ends too.
	SpaceSensitive bool `json:"space_change_sensitive,omitempty"`
	// Absolute and Relative are the tolerances for answer tokens that are numbers; a
	// number that meets either is right. With both nil, numbers are text.
	Absolute *float64 `json:"float_absolute_tolerance,omitempty"`
	Relative *float64 `json:"float_relative_tolerance,omitempty"`
	// HexFloats also takes 0x1.8p3 and 0x10 for numbers, as the reference tools and the
	// legacy format do. The format since 2023-07 knows decimal numbers only.
	HexFloats bool `json:"hex_floats,omitempty"`
}

// The flags of the default output validator.
const (
	flagCase     = "case_sensitive"
	flagSpace    = "space_change_sensitive"
	flagAbsolute = "float_absolute_tolerance"
	flagRelative = "float_relative_tolerance"
	flagBoth     = "float_tolerance"
)

// tokenFlags is in the order in which an error lists them.
var tokenFlags = []string{flagCase, flagSpace, flagAbsolute, flagRelative, flagBoth}

// ParseTokenOptions reads the flags of the default output validator, each word an element.
// A later tolerance replaces an earlier one, as in the reference tools, so that a group's flags after
// the problem's refine them. The error tells every flag that is wrong.
func ParseTokenOptions(flags []string) (TokenOptions, error) {
	var options TokenOptions
	var problems []error
	for i := 0; i < len(flags); i++ {
		flag := flags[i]
		switch flag {
		case flagCase:
			options.CaseSensitive = true
		case flagSpace:
			options.SpaceSensitive = true
		case flagAbsolute, flagRelative, flagBoth:
			if i+1 == len(flags) {
				problems = append(problems, fmt.Errorf("%s needs a number after it", flag))
				continue
			}
			i++
			tolerance, ok := parseFloat([]byte(flags[i]), false)
			if !ok || tolerance < 0 {
				problems = append(problems, fmt.Errorf("%s: %s is not a tolerance: want a decimal number that is not negative", flag, excerpt([]byte(flags[i]), 0)))
				continue
			}
			options.setTolerance(flag, tolerance)
		default:
			problems = append(problems, unknownFlag(flag))
		}
	}
	return options, errors.Join(problems...)
}

func (o *TokenOptions) setTolerance(flag string, tolerance float64) {
	if flag != flagRelative {
		o.Absolute = &tolerance
	}
	if flag != flagAbsolute {
		o.Relative = &tolerance
	}
}

func unknownFlag(flag string) error {
	hint := ""
	if strings.ContainsAny(flag, " \t") {
		hint = "; each word is an element of its own"
	}
	return fmt.Errorf("flag %s of the default output validator is unknown: want one of %s%s",
		excerpt([]byte(flag), 0), strings.Join(tokenFlags, ", "), hint)
}

// CheckRepeats refuses what the format forbids since 2023-07: the same tolerance given twice, or
// float_tolerance beside one of the other two.
func CheckRepeats(flags []string) error {
	seen := map[string]int{}
	for _, flag := range flags {
		if slices.Contains(tokenFlags[2:], flag) {
			seen[flag]++
		}
	}
	var problems []error
	for _, flag := range tokenFlags[2:] {
		if seen[flag] > 1 {
			problems = append(problems, fmt.Errorf("%s is given %d times: want it once", flag, seen[flag]))
		}
	}
	if seen[flagBoth] > 0 && seen[flagAbsolute]+seen[flagRelative] > 0 {
		problems = append(problems, fmt.Errorf("%s excludes %s and %s", flagBoth, flagAbsolute, flagRelative))
	}
	return errors.Join(problems...)
}
