package problem

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatternsOfSubmissionsYAML(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pattern, path string
		want          bool
	}{
		"itself":                            {"accepted/a.py", "accepted/a.py", true},
		"a folder around it":                {"accepted", "accepted/a/b.py", true},
		"a star in a name":                  {"accepted/*.py", "accepted/a.py", true},
		"a star is no slash":                {"*.py", "accepted/a.py", false},
		"a star for nothing":                {"a*", "a", true},
		"two stars":                         {"*x*", "axb", true},
		"two stars without what is between": {"*x*", "ab", false},
		"no overlap":                        {"ab*ba", "aba", false},
		"the last part is at the end":       {"*ab", "abab", true},
		"either":                            {"{simple,complex}.py", "complex.py", true},
		"neither":                           {"{simple,complex}.py", "other.py", false},
		"either, one in the other":          {"a{b{c,d},e}f", "abdf", true},
		"either or nothing":                 {"a{b,}c", "ac", true},
		"a brace without a partner":         {"a{b", "a{b", true},
		"a question mark is itself":         {"a?", "ab", false},
		"brackets are themselves":           {"[ab]", "a", false},
		"a slash at the end":                {"accepted/", "accepted/a.py", true},
		"nothing":                           {"", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, matchesPathOrParent(test.pattern, test.path))
		})
	}
}

func TestBracesAreBounded(t *testing.T) {
	t.Parallel()
	require.Len(t, expandBraces(strings.Repeat("{a,b}", 100)), maxBraces)
	require.Len(t, expandBraces(strings.Repeat("{", maxPattern)), 1)
}

func FuzzGlob(f *testing.F) {
	f.Add("{a,b*}/c", "b1/c")
	f.Add("**{{,}", "")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > maxPattern {
			return
		}
		matchesPathOrParent(pattern, name)
		if !strings.ContainsAny(pattern, "*{}") && !strings.HasSuffix(pattern, "/") {
			require.Equal(t, pattern == name, matchesPath(pattern, name))
		}
	})
}
