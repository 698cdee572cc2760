package grade

import (
	"bytes"
	"fmt"
	"math"
)

// Tokens compares output with the answer token by token, as the format's default output
// validator does. Tokens are what stands between white space (space, tab, line feed,
// carriage return, vertical tab, form feed); missing and extra tokens are wrong, and
// white space elsewhere is ignored unless SpaceSensitive.
func Tokens(options TokenOptions, answer, output []byte) Finding {
	// Each tolerance is at least 0, so that equal bytes are right whatever the options.
	if bytes.Equal(answer, output) {
		return accepted()
	}
	comparison := comparison{options: options, answer: scanner{data: answer}, output: scanner{data: output}}
	for count := 1; ; count++ {
		if finding, done := comparison.next(count); done {
			return finding
		}
	}
}

// comparison walks through the two sides in step.
type comparison struct {
	options        TokenOptions
	answer, output scanner
}

// next compares the next white space and token, the count-th. It reports true at the end.
func (c *comparison) next(count int) (Finding, bool) {
	wantSpace, gotSpace := c.answer.space(), c.output.space()
	if c.options.SpaceSensitive && !bytes.Equal(wantSpace, gotSpace) {
		return c.spaceDiffers(wantSpace, gotSpace), true
	}
	want, got := c.answer.token(), c.output.token()
	switch {
	case len(want) == 0 && len(got) == 0:
		return accepted(), true
	case len(got) == 0:
		public := fmt.Sprintf("the output ends after %d tokens, too early", count-1)
		return c.wrong(count, nil, public, ", want "+excerpt(want, 0)), true
	case len(want) == 0:
		public := fmt.Sprintf("the answer has only %d tokens, got %s", count-1, excerpt(got, 0))
		return c.wrong(count, got, public, ""), true
	}
	return c.compare(count, want, got)
}

func (c *comparison) compare(count int, want, got []byte) (Finding, bool) {
	if c.options.Absolute != nil || c.options.Relative != nil {
		if wanted, isNumber := parseFloat(want, c.options.HexFloats); isNumber {
			return c.compareNumbers(count, want, got, wanted)
		}
	}
	if bytes.Equal(want, got) || !c.options.CaseSensitive && equalFold(want, got) {
		return Finding{}, false
	}
	at := firstDifference(want, got)
	return c.wrong(count, got, "got "+excerpt(got, at), ", want "+excerpt(want, at)), true
}

func (c *comparison) compareNumbers(count int, want, got []byte, wanted float64) (Finding, bool) {
	value, isNumber := parseFloat(got, c.options.HexFloats)
	if !isNumber {
		return c.wrong(count, got, "a number is wanted, got "+excerpt(got, 0), ", want "+excerpt(want, 0)), true
	}
	if c.options.within(wanted, value) {
		return Finding{}, false
	}
	judge := fmt.Sprintf(", want %s: they differ by %g, %s", excerpt(want, 0), math.Abs(wanted-value), c.options.tolerances())
	return c.wrong(count, got, "the number is too far off, got "+excerpt(got, 0), judge), true
}

// wrong reports token count of the output, which has just been read; judge is what only
// Message says.
func (c *comparison) wrong(count int, got []byte, public, judge string) Finding {
	where := fmt.Sprintf("%s, token %d: ", place(c.output.data, c.output.at-len(got)), count)
	note := ""
	if count == 1 {
		note = markNote(c.answer.data, c.output.data)
	}
	return Finding{Verdict: WA, Message: where + public + judge + note, Public: where + public + note}
}

func (c *comparison) spaceDiffers(want, got []byte) Finding {
	at := firstDifference(want, got)
	where := place(c.output.data, c.output.at-len(got)+at)
	public := fmt.Sprintf("%s: the white space differs, got %s", where, excerpt(got, at))
	return Finding{Verdict: WA, Message: public + ", want " + excerpt(want, at), Public: public}
}

// scanner cuts data into white space and tokens by turns.
type scanner struct {
	data []byte
	at   int
}

func (s *scanner) space() []byte { return s.take(true) }
func (s *scanner) token() []byte { return s.take(false) }

func (s *scanner) take(spaces bool) []byte {
	from := s.at
	for s.at < len(s.data) && isSpace[s.data[s.at]] == spaces {
		s.at++
	}
	return s.data[from:s.at]
}

var isSpace = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// equalFold is bytes.EqualFold for ASCII letters only: to the format no other byte has a case.
func equalFold(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b | 0x20
	}
	return b
}
