package lines

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
)

// kinds are the checkers that a line can name.
var kinds = []grade.CheckerKind{grade.CheckTokens, grade.CheckExact, grade.CheckText, grade.CheckNone}

// decodeChecker reads the name of a checker, or an object with it and its options. Without one
// the kind is empty.
func decodeChecker(o *object) (kind grade.CheckerKind, tokens grade.TokenOptions) {
	data := o.raw("checker")
	if data == nil {
		return "", tokens
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		kind, tokens = decodeOptions(o, data)
	}
	if !slices.Contains(kinds, kind) {
		o.refuse("checker", fmt.Errorf("%.80q is unknown: want one of %q", string(kind), kinds))
	}
	return kind, tokens
}

func decodeOptions(o *object, data []byte) (kind grade.CheckerKind, tokens grade.TokenOptions) {
	kind = grade.CheckTokens
	c, ok := open("checker", data, o.errs)
	if !ok {
		return kind, tokens
	}
	var both *float64
	c.read("kind", &kind)
	c.read("case_sensitive", &tokens.CaseSensitive)
	c.read("space_change_sensitive", &tokens.SpaceSensitive)
	c.read("float_absolute_tolerance", &tokens.Absolute)
	c.read("float_relative_tolerance", &tokens.Relative)
	c.read("float_tolerance", &both)
	c.read("hex_floats", &tokens.HexFloats)
	c.end()
	if both != nil {
		if tokens.Absolute != nil || tokens.Relative != nil {
			c.refuse("float_tolerance", errors.New("is given beside another tolerance: want one of them"))
		}
		tokens.Absolute, tokens.Relative = both, both
	}
	for _, tolerance := range []*float64{tokens.Absolute, tokens.Relative} {
		if tolerance != nil && !(*tolerance >= 0) {
			c.refuse("float_tolerance", fmt.Errorf("%v: want a number that is not negative", *tolerance))
		}
	}
	if kind != grade.CheckTokens && tokens != (grade.TokenOptions{}) {
		o.refuse("checker", fmt.Errorf("%q has no options: want them for %q alone", string(kind), grade.CheckTokens))
	}
	return kind, tokens
}

// judgedBy decides how the outputs are checked. Without any expected output the exit code decides.
func (l *line) judgedBy(o *object, kind grade.CheckerKind, tokens grade.TokenOptions) (errs []error) {
	if l.unit != nil {
		l.checker.Kind, l.tests[0].name = grade.CheckUnit, "unit"
		return nil
	}
	if kind == "" {
		kind = grade.CheckNone
		if o.has("tests") || l.tests[0].expected != nil {
			kind = grade.CheckTokens
		}
	}
	l.checker.Kind, l.tokens = kind, tokens
	for i, t := range l.tests {
		field := "expected"
		if o.has("tests") {
			field = fmt.Sprintf("tests[%d].expected", i)
		}
		switch {
		case kind == grade.CheckNone && t.expected != nil:
			errs = append(errs, fmt.Errorf("%s: is given, and the checker %q looks at no output: want another checker, or none expected", field, kind))
		case kind != grade.CheckNone && t.expected == nil:
			errs = append(errs, fmt.Errorf(`%s: is not given: want the right output, or "checker": "none" to judge by the exit code`, field))
		}
	}
	return errs
}
