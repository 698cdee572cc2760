package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// legible makes text of a submission safe to look at wherever it is pasted: control characters
// become their pictures (U+241B for escape), and bytes that are no UTF-8, other control characters and
// characters that change the direction of text become U+FFFD. Line feeds and tabs stay.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= ' ' && r < 0x7f || r == '\n' || r == '\t': // nearly all there is
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xFFFE || r == 0xFFFF:
			return utf8.RuneError
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// shorten returns the head and the tail of long text with a note between them, as legible
// text of its own memory. Characters are not cut in two.
func shorten(text string, keep int) string {
	if len(text) <= keep {
		return legible(strings.Clone(text))
	}
	head, tail := keep/2, len(text)-keep/2
	for head > 0 && !utf8.RuneStart(text[head]) && keep/2-head < utf8.UTFMax {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) && tail-(len(text)-keep/2) < utf8.UTFMax {
		tail++
	}
	return legible(text[:head] + " […] " + text[tail:])
}
