package grade_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

func TestExactForgivesNothingAndTextForgivesHowLinesEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer, output string
		exact, text    grade.Verdict
	}{
		"the same":                       {"a b\n", "a b\n", grade.AC, grade.AC},
		"both empty":                     {"", "", grade.AC, grade.AC},
		"no last line end":               {"a\n", "a", grade.WA, grade.AC},
		"nothing against a line end":     {"\n", "", grade.WA, grade.AC},
		"an empty line at the end":       {"a\n", "a\n\n", grade.WA, grade.WA},
		"windows line ends":              {"a\nb\n", "a\r\nb\r\n", grade.WA, grade.AC},
		"windows line ends in answer":    {"a\r\nb\r\n", "a\nb", grade.WA, grade.AC},
		"a carriage return in a line":    {"a\n", "a\rb\n", grade.WA, grade.WA},
		"a byte-order mark in output":    {"a\n", "\xef\xbb\xbfa\n", grade.WA, grade.AC},
		"a byte-order mark in answer":    {"\xef\xbb\xbfa\n", "a\n", grade.WA, grade.AC},
		"two byte-order marks":           {"a\n", "\xef\xbb\xbf\xef\xbb\xbfa\n", grade.WA, grade.WA},
		"a byte-order mark in line 2":    {"a\nb\n", "a\n\xef\xbb\xbfb\n", grade.WA, grade.WA},
		"a blank at the end of the line": {"a\n", "a \n", grade.WA, grade.WA},
		"another case":                   {"a\n", "A\n", grade.WA, grade.WA},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.exact, grade.Exact([]byte(test.answer), []byte(test.output)).Verdict)
			require.Equal(t, test.text, grade.Text([]byte(test.answer), []byte(test.output)).Verdict)
		})
	}
}

func TestAnExactMessageNamesThePlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ answer, output, message, public string }{
		"another line": {
			"one\ntwo\n", "one\ntwx\n",
			`line 2, column 3: first difference, got "twx", want "two"`, `line 2, column 3: first difference, got "twx"`,
		},
		"too short": {
			"one\ntwo\n", "one\n",
			`line 2, column 1: the output ends after 4 bytes, too early, want "two"`, `line 2, column 1: the output ends after 4 bytes, too early`,
		},
		"too long": {
			"one\n", "one\ntwo\n",
			`line 2, column 1: the output goes on after the answer's end, for 4 bytes, got "two"`,
			`line 2, column 1: the output goes on after the answer's end, for 4 bytes, got "two"`,
		},
		"byte-order mark": {
			"a", "\xef\xbb\xbfa",
			`line 1, column 1: first difference, got "\ufeffa", want "a"; the output begins with a byte-order mark`,
			`line 1, column 1: first difference, got "\ufeffa"; the output begins with a byte-order mark`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, grade.Finding{Verdict: grade.WA, Message: test.message, Public: test.public},
				grade.Exact([]byte(test.answer), []byte(test.output)))
		})
	}
}
