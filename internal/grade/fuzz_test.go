package grade_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
)

// FuzzTokens holds the token checker to what must be true of any two outputs.
func FuzzTokens(f *testing.F) {
	for _, seed := range [][2]string{{"1 2", "1 3"}, {"", " "}, {"0x1p4", "16"}, {"a\xff\x00", "\xef\xbb\xbfA"}, {"1e999", "inf"}, {"\r\n", "\n"}} {
		f.Add([]byte(seed[0]), []byte(seed[1]), 0.5)
	}
	f.Fuzz(func(t *testing.T, answer, output []byte, tolerance float64) {
		plain := grade.TokenOptions{}
		strict := grade.TokenOptions{CaseSensitive: true, SpaceSensitive: true}
		same := bytes.Equal(answer, output)
		require.Equal(t, same, grade.Tokens(strict, answer, output).Verdict == grade.AC)
		require.Equal(t, same, grade.Exact(answer, output).Verdict == grade.AC)

		// The rule for plain tokens, said in another way.
		split := func(data []byte) []string {
			return strings.FieldsFunc(asciiLower(data), func(r rune) bool { return strings.ContainsRune(" \t\n\v\f\r", r) })
		}
		equal := strings.Join(split(answer), " ") == strings.Join(split(output), " ")
		finding := grade.Tokens(plain, answer, output)
		require.Equal(t, equal, finding.Verdict == grade.AC, finding.Message)
		require.Less(t, len(finding.Message), 600)

		if tolerance >= 0 {
			loose := grade.TokenOptions{Absolute: &tolerance, Relative: &tolerance, HexFloats: true}
			require.Equal(t, grade.AC, grade.Tokens(loose, output, output).Verdict)
			if equal {
				require.Equal(t, grade.AC, grade.Tokens(loose, answer, output).Verdict)
			}
			grade.Tokens(loose, answer, output)
		}
	})
}

// asciiLower maps every byte to a rune of its own, so that FieldsFunc sees bytes.
func asciiLower(data []byte) string {
	var text strings.Builder
	for _, b := range data {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		text.WriteRune(rune(b))
	}
	return text.String()
}

func FuzzParseTokenOptions(f *testing.F) {
	f.Add("float_tolerance 1e-6 case_sensitive")
	f.Add("float_tolerance nan")
	f.Fuzz(func(t *testing.T, flags string) {
		options, err := grade.ParseTokenOptions(strings.Fields(flags))
		if err != nil {
			return
		}
		for _, tolerance := range []*float64{options.Absolute, options.Relative} {
			require.True(t, tolerance == nil || *tolerance >= 0)
		}
		_ = grade.CheckRepeats(strings.Fields(flags))
	})
}

// FuzzDecodeSuite reads any bytes as a suite: it is refused, or says the same when it is written and read again.
func FuzzDecodeSuite(f *testing.F) {
	f.Add([]byte(`{"tests":[{"name":"1","input":{"inline":"1 2\n"},"answer":{"inline":"3\n"}}]}`))
	f.Add([]byte(`{"name":"s","tests":[{"name":"a","files":[{"path":"d/f","data":{"inline":""}}],"args":["x"]}],"checker":{"kind":"tokens"}}`))
	f.Add([]byte(`{"tests":[{"name":"1"}],"groups":{"name":"","rule":{},"items":[{"test":"1"},{"group":null}]}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		suite, err := grade.DecodeSuite(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(suite)
		require.NoError(t, err)
		again, err := grade.DecodeSuite(text)
		require.NoError(t, err, "%s", text)
		second, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(second))
		if suite.Root != nil {
			grade.Pending(suite.Root, nil, true)
			grade.Grade(suite.Root, nil)
		}
	})
}
