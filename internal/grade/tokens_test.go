package grade_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

// options reads flags as a package would give them.
func options(t testing.TB, flags string) grade.TokenOptions {
	t.Helper()
	parsed, err := grade.ParseTokenOptions(strings.Fields(flags))
	require.NoError(t, err)
	return parsed
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags, answer, output string
		want                  grade.Verdict
	}{
		"the same":                                   {"", "1 2\n", "1 2\n", grade.AC},
		"two empty outputs":                          {"", "", "", grade.AC},
		"white space against nothing":                {"", " \n", "", grade.AC},
		"no last line end":                           {"", "1 2\n", "1 2", grade.AC},
		"leading and trailing blanks":                {"", "1 2\n", "\n\t 1  2 \n\n", grade.AC},
		"every kind of white space":                  {"", "1 2 3 4 5 6", "1\t2\n3\r4\v5\f6", grade.AC},
		"windows line ends":                          {"", "1\n2\n", "1\r\n2\r\n", grade.AC},
		"a no-break space is no white space":         {"", "1 2", "1\u00a02", grade.WA},
		"a token too few":                            {"", "1 2", "1", grade.WA},
		"no output":                                  {"", "1 2", "", grade.WA},
		"a token too many":                           {"", "1 2", "1 2 3", grade.WA},
		"output where none is wanted":                {"", "", "x", grade.WA},
		"tokens joined":                              {"", "1 2", "12", grade.WA},
		"case is ignored":                            {"", "YES", "yes", grade.AC},
		"case counts when asked":                     {"case_sensitive", "YES", "yes", grade.WA},
		"only ASCII has case":                        {"", "É", "é", grade.WA},
		"brackets are not letters of another case":   {"", "[", "{", grade.WA},
		"a sign is text without tolerance":           {"", "1", "+1", grade.WA},
		"1.0 is not 1 without tolerance":             {"", "1", "1.0", grade.WA},
		"bytes after a NUL count":                    {"", "1", "1\x00x", grade.WA},
		"bytes that are no text":                     {"", "\xff\xfe", "\xff\xfe\n", grade.AC},
		"a byte-order mark is part of the token":     {"", "1\n", "\xef\xbb\xbf1\n", grade.WA},
		"a byte-order mark that the answer has too":  {"", "\xef\xbb\xbf1", "\xef\xbb\xbf1 ", grade.AC},
		"same white space":                           {"space_change_sensitive", "1 2\n", "1 2\n", grade.AC},
		"another amount of white space":              {"space_change_sensitive", "1 2\n", "1  2\n", grade.WA},
		"another kind of white space":                {"space_change_sensitive", "1 2\n", "1\t2\n", grade.WA},
		"a missing last line end when spaces count":  {"space_change_sensitive", "1 2\n", "1 2", grade.WA},
		"one line end too many when spaces count":    {"space_change_sensitive", "1 2\n", "1 2\n\n", grade.WA},
		"leading white space when spaces count":      {"space_change_sensitive", "1", " 1", grade.WA},
		"windows line ends when spaces count":        {"space_change_sensitive", "1\n2\n", "1\r\n2\r\n", grade.WA},
		"case is ignored although spaces count":      {"space_change_sensitive", "a b\n", "A B\n", grade.AC},
		"numbers may differ in width, spaces do not": {"space_change_sensitive float_tolerance 1e-9", "1 2\n", "1.000 2\n", grade.AC},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finding := grade.Tokens(options(t, test.flags), []byte(test.answer), []byte(test.output))
			require.Equal(t, test.want, finding.Verdict, finding.Message)
			require.Equal(t, test.want == grade.WA, finding.Message != "" && finding.Public != "")
		})
	}
}

// Distances such as 0.5 and 0.25 are exact in binary, so the edges are exact too.
func TestTolerances(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		flags, answer, output string
		want                  grade.Verdict
	}{
		"absolute, at the edge":                      {"float_absolute_tolerance 0.5", "10", "10.5", grade.AC},
		"absolute, at the lower edge":                {"float_absolute_tolerance 0.5", "10", "9.5", grade.AC},
		"absolute, just past the edge":               {"float_absolute_tolerance 0.5", "10", "10.50000000000001", grade.WA},
		"absolute alone grants nothing relative":     {"float_absolute_tolerance 0.5", "1000", "1001", grade.WA},
		"relative, at the edge":                      {"float_relative_tolerance 0.25", "8", "10", grade.AC},
		"relative, just past the edge":               {"float_relative_tolerance 0.25", "8", "10.00000000000001", grade.WA},
		"relative to the answer, not to the output":  {"float_relative_tolerance 0.25", "10", "8", grade.AC},
		"relative to 9 grants 2.25 and not 3":        {"float_relative_tolerance 0.25", "9", "12", grade.WA},
		"relative to zero grants nothing":            {"float_relative_tolerance 0.25", "0", "1e-300", grade.WA},
		"relative to zero, exactly":                  {"float_relative_tolerance 0.25", "0", "-0.0", grade.AC},
		"relative to a negative number":              {"float_relative_tolerance 0.25", "-8", "-10", grade.AC},
		"both, only the absolute holds":              {"float_tolerance 0.25", "0.5", "0.75", grade.AC},
		"both, only the relative holds":              {"float_tolerance 0.25", "8", "10", grade.AC},
		"both, neither holds":                        {"float_tolerance 0.25", "8", "10.5", grade.WA},
		"a tolerance of zero compares values":        {"float_tolerance 0", "1", "1.000", grade.AC},
		"a tolerance of zero is strict":              {"float_tolerance 0", "1", "1.0000000001", grade.WA},
		"another notation":                           {"float_tolerance 1e-9", "0.0314", "3.14000000e-2", grade.AC},
		"a plus sign":                                {"float_tolerance 1e-9", "1", "+1", grade.AC},
		"no digit before the point":                  {"float_tolerance 1e-9", "0.5", ".5", grade.AC},
		"no digit after the point":                   {"float_tolerance 1e-9", "5", "5.", grade.AC},
		"a capital exponent":                         {"float_tolerance 1e-9", "500", "5E+2", grade.AC},
		"a point alone is no number":                 {"float_tolerance 1e-9", "0", ".", grade.WA},
		"a sign alone is no number":                  {"float_tolerance 1e-9", "0", "-", grade.WA},
		"an exponent without digits is no number":    {"float_tolerance 1e-9", "1", "1e", grade.WA},
		"an exponent without digits but with a sign": {"float_tolerance 1e-9", "1", "1e+", grade.WA},
		"something after the number":                 {"float_tolerance 1e-9", "1", "1x", grade.WA},
		"a NUL after the number":                     {"float_tolerance 1e-9", "1", "1\x00", grade.WA},
		"a decimal comma":                            {"float_tolerance 1", "1", "1,0", grade.WA},
		"an underscore":                              {"float_tolerance 1", "1000", "1_000", grade.WA},
		"a word for a number":                        {"float_tolerance 1", "1", "one", grade.WA},
		"a number for a word":                        {"float_tolerance 1", "one", "1", grade.WA},
		"words stay words":                           {"float_tolerance 1", "Case 1", "case 2", grade.AC},
		"words stay words in their case":             {"float_tolerance 1 case_sensitive", "Case 1", "case 2", grade.WA},
		"nan for a number":                           {"float_tolerance 1", "1", "nan", grade.WA},
		"infinity for a number":                      {"float_tolerance 1", "1", "inf", grade.WA},
		"nan is a word":                              {"float_tolerance 1", "NaN", "nan", grade.AC},
		"inf is a word":                              {"float_tolerance 1", "inf", "Inf", grade.AC},
		"inf is not infinity":                        {"float_tolerance 1", "inf", "infinity", grade.WA},
		"too large for a double is a word":           {"float_tolerance 1", "1e999", "1E999", grade.AC},
		"too large for a double is no number":        {"float_tolerance 1", "1", "1e999", grade.WA},
		"two words that are too large":               {"float_tolerance 1", "1e999", "10e998", grade.WA},
		"too small for a double is zero":             {"float_tolerance 0", "1e-999", "0", grade.AC},
		"the far ends of the range":                  {"float_tolerance 1", "1e308", "-1e308", grade.WA},
		"hexadecimal is no number":                   {"float_tolerance 1e-9", "16", "0x10", grade.WA},
		"400 digits":                                 {"float_tolerance 1e-9", "1", "1." + strings.Repeat("0", 400), grade.AC},
		"400 nines are one":                          {"float_tolerance 0", "1", "0." + strings.Repeat("9", 400), grade.AC},
		"400 leading zeros":                          {"float_tolerance 0", "7", strings.Repeat("0", 400) + "7", grade.AC},
		"30 digits on either side":                   {"float_tolerance 0", "123456789012345678901234567890.123456789012345678901234567890", "1.23456789012345678901234567890123456789012345678901234567890e29", grade.AC},
		"integers are numbers too":                   {"float_tolerance 1", "5", "6", grade.AC},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finding := grade.Tokens(options(t, test.flags), []byte(test.answer), []byte(test.output))
			require.Equal(t, test.want, finding.Verdict, finding.Message)
		})
	}
}

func TestHexadecimalNumbersOfTheLegacyFormat(t *testing.T) {
	t.Parallel()
	legacy := options(t, "float_tolerance 0")
	legacy.HexFloats = true
	for output, want := range map[string]grade.Verdict{
		"0x10": grade.AC, "0X10": grade.AC, "+0x1p4": grade.AC, "0x.8p5": grade.AC, "0x1.P4": grade.AC, "16": grade.AC,
		"0x": grade.WA, "0x1p": grade.WA, "0x1g": grade.WA, "0x_10": grade.WA, "0x1e1": grade.WA, "-0x10": grade.WA,
	} {
		finding := grade.Tokens(legacy, []byte("16"), []byte(output))
		require.Equal(t, want, finding.Verdict, output)
	}
}

func TestATokenMessageNamesThePlaceAndQuotesLittle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 100)
	for name, test := range map[string]struct{ flags, answer, output, message, public string }{
		"the place is the output's": {
			"", "1 2\n3 4\n", "1 2\n3   5\n",
			`line 2, column 5, token 4: got "5", want "4"`, `line 2, column 5, token 4: got "5"`,
		},
		"missing": {
			"", "1 2 3", "1 2\n",
			`line 2, column 1, token 3: the output ends after 2 tokens, too early, want "3"`,
			`line 2, column 1, token 3: the output ends after 2 tokens, too early`,
		},
		"extra": {
			"", "1", "1 2",
			`line 1, column 3, token 2: the answer has only 1 tokens, got "2"`, `line 1, column 3, token 2: the answer has only 1 tokens, got "2"`,
		},
		"numbers": {
			"float_tolerance 0.25", "8", "12",
			`line 1, column 1, token 1: the number is too far off, got "12", want "8": they differ by 4, absolute tolerance 0.25 and relative tolerance 0.25`,
			`line 1, column 1, token 1: the number is too far off, got "12"`,
		},
		"no number": {
			"float_relative_tolerance 0.25", "8", "eight",
			`line 1, column 1, token 1: a number is wanted, got "eight", want "8"`, `line 1, column 1, token 1: a number is wanted, got "eight"`,
		},
		"white space": {
			"space_change_sensitive", "1 2\n", "1 2\n\n",
			`line 2, column 1: the white space differs, got "\n\n", want "\n"`, `line 2, column 1: the white space differs, got "\n\n"`,
		},
		"bytes are escaped": {
			"", "x", "\x1b[31m\xff",
			`line 1, column 1, token 1: got "\x1b[31m\xff", want "x"`, `line 1, column 1, token 1: got "\x1b[31m\xff"`,
		},
		"long tokens are cut around the difference": {
			"", long + "x" + long, long + "y" + long,
			`line 1, column 1, token 1: got ..."aaaaaaaayaaaaaaaaaaaaaaaaaaaaaaa"..., want ..."aaaaaaaaxaaaaaaaaaaaaaaaaaaaaaaa"...`,
			`line 1, column 1, token 1: got ..."aaaaaaaayaaaaaaaaaaaaaaaaaaaaaaa"...`,
		},
		"a byte-order mark is named": {
			"", "1", "\xef\xbb\xbf1",
			`line 1, column 1, token 1: got "\ufeff1", want "1"; the output begins with a byte-order mark`,
			`line 1, column 1, token 1: got "\ufeff1"; the output begins with a byte-order mark`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finding := grade.Tokens(options(t, test.flags), []byte(test.answer), []byte(test.output))
			require.Equal(t, grade.Finding{Verdict: grade.WA, Message: test.message, Public: test.public}, finding)
		})
	}
}

func TestTokenOptionsAreReadLikeTheReference(t *testing.T) {
	t.Parallel()
	number := func(value float64) *float64 { return &value }
	for flags, want := range map[string]grade.TokenOptions{
		"":                                      {},
		"case_sensitive space_change_sensitive": {CaseSensitive: true, SpaceSensitive: true},
		"float_tolerance 1e-6":                  {Absolute: number(1e-6), Relative: number(1e-6)},
		"float_relative_tolerance .5":           {Relative: number(0.5)},
		"float_absolute_tolerance 0":            {Absolute: number(0)},
		"float_tolerance 1e-6 float_absolute_tolerance 1e-3": {Absolute: number(1e-3), Relative: number(1e-6)},
		"float_tolerance 1e-6 float_tolerance 1e-9":          {Absolute: number(1e-9), Relative: number(1e-9)},
	} {
		require.Equal(t, want, options(t, flags), flags)
	}
}

func TestWrongFlagsAreAllNamed(t *testing.T) {
	t.Parallel()
	_, err := grade.ParseTokenOptions([]string{"case_sensitiv", "float_tolerance", "-1", "float_absolute_tolerance", "nan", "float_tolerance 1e-6", "float_relative_tolerance"})
	require.EqualError(t, err, strings.Join([]string{
		`flag "case_sensitiv" of the default output validator is unknown: want one of case_sensitive, space_change_sensitive, float_absolute_tolerance, float_relative_tolerance, float_tolerance`,
		`float_tolerance: "-1" is not a tolerance: want a decimal number that is not negative`,
		`float_absolute_tolerance: "nan" is not a tolerance: want a decimal number that is not negative`,
		`flag "float_tolerance 1e-6" of the default output validator is unknown: want one of case_sensitive, space_change_sensitive, float_absolute_tolerance, float_relative_tolerance, float_tolerance; each word is an element of its own`,
		`float_relative_tolerance needs a number after it`,
	}, "\n"))
}

func TestRepeatedTolerancesAreRefusedWhereTheFormatSaysSo(t *testing.T) {
	t.Parallel()
	require.NoError(t, grade.CheckRepeats(strings.Fields("float_absolute_tolerance 1 float_relative_tolerance 1 case_sensitive case_sensitive")))
	require.EqualError(t, grade.CheckRepeats(strings.Fields("float_tolerance 1 float_tolerance 1")), "float_tolerance is given 2 times: want it once")
	require.EqualError(t, grade.CheckRepeats(strings.Fields("float_tolerance 1 float_relative_tolerance 1")),
		"float_tolerance excludes float_absolute_tolerance and float_relative_tolerance")
}
