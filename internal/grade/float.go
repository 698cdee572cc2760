package grade

import (
	"math"
	"strconv"
	"strings"
)

// parseFloat reads a token as a number: an optional sign, digits with at most one point
// and at least one digit, an optional exponent, and nothing after it. Any number of
// digits is allowed; the nearest double counts. With hex, 0x and hexadecimal digits
// are a number too, the binary exponent being optional as in C. Infinity, NaN and what is
// too large for a double are no numbers; what is too small is 0 or a denormal.
func parseFloat(token []byte, hex bool) (float64, bool) {
	digits := token
	if len(digits) > 0 && (digits[0] == '+' || digits[0] == '-') {
		digits = digits[1:]
	}
	text := string(token)
	if hex && len(digits) > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') {
		exponent, ok := isNumeral(digits[2:], isHexDigit, 'p')
		if !ok {
			return 0, false
		}
		if !exponent {
			text += "p0"
		}
	} else if _, ok := isNumeral(digits, isDigit, 'e'); !ok {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(value, 0) {
		return 0, false
	}
	return value, true
}

// isNumeral tells whether text is a significand and perhaps an exponent after the
// letter mark, and whether it has the exponent.
func isNumeral(text []byte, digit func(byte) bool, mark byte) (exponent, ok bool) {
	i, count := 0, 0
	for ; i < len(text) && digit(text[i]); i++ {
		count++
	}
	if i < len(text) && text[i] == '.' {
		for i++; i < len(text) && digit(text[i]); i++ {
			count++
		}
	}
	if count == 0 {
		return false, false
	}
	if i == len(text) {
		return false, true
	}
	if text[i]|0x20 != mark {
		return false, false
	}
	i++
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		i++
	}
	from := i
	for ; i < len(text) && isDigit(text[i]); i++ {
	}
	return true, i == len(text) && i > from
}

func isDigit(b byte) bool    { return b >= '0' && b <= '9' }
func isHexDigit(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }

// within tells whether got is close enough to want under either tolerance. Both bounds
// are inclusive; the relative one is relative to the answer.
func (o TokenOptions) within(want, got float64) bool {
	difference := math.Abs(want - got)
	return o.Absolute != nil && difference <= *o.Absolute ||
		o.Relative != nil && difference <= *o.Relative*math.Abs(want)
}

// tolerances says in words what within allows.
func (o TokenOptions) tolerances() string {
	var parts []string
	if o.Absolute != nil {
		parts = append(parts, "absolute tolerance "+strconv.FormatFloat(*o.Absolute, 'g', -1, 64))
	}
	if o.Relative != nil {
		parts = append(parts, "relative tolerance "+strconv.FormatFloat(*o.Relative, 'g', -1, 64))
	}
	return strings.Join(parts, " and ")
}
