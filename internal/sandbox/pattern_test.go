package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestMatchPattern(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, name string
		want          bool
	}{
		{"a.txt", "a.txt", true},
		{"a.txt", "b.txt", false},
		{"a.txt", "d/a.txt", false},
		{"*.txt", "a.txt", true},
		{"*.txt", ".txt", true},
		{"*.txt", "d/a.txt", false},
		{"*/*.txt", "d/a.txt", true},
		{"d/*", "d/a", true},
		{"d/*", "d", false},
		{"d/*", "d/e/a", false},
		{"**", "a", true},
		{"**", "a/b/c", true},
		{"**/a", "a", true},
		{"**/a", "x/y/a", true},
		{"**/a", "x/y/b", false},
		{"d/**", "d/a", true},
		{"d/**", "d", true},
		{"d/**/f", "d/f", true},
		{"d/**/f", "d/x/y/f", true},
		{"d/**/f", "e/x/f", false},
		{"**/x/**/y", "a/x/b/c/y", true},
		{"**/x/**/y", "a/b/c/y", false},
		{"a**", "abc", true}, // within an element ** is as *
		{"a**", "a/b", false},
		{"[ab]?", "b1", true},
		{"[ab]?", "c1", false},
		{`\*`, "*", true},
		{`\*`, "a", false},
	} {
		require.Equal(t, test.want, sandbox.MatchPattern(test.pattern, test.name), "%s and %s", test.pattern, test.name)
	}
}

func TestManyStarsAreNoTrap(t *testing.T) {
	t.Parallel()
	pattern := strings.Repeat("**/a/", 31) + "b"
	name := strings.Repeat("a/", 500) + "c"
	started := time.Now()
	require.False(t, sandbox.MatchPattern(pattern, name))
	require.Less(t, time.Since(started), 5*time.Second)
}

func TestCheckPattern(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", "*.txt", "d/**/*.csv", "**", "[a-z]*", "ü/*"} {
		require.NoError(t, sandbox.CheckPattern(good), good)
	}
	for _, bad := range []string{"", ".", "..", "/etc/*", "../*", "a/../b", "a//b", "a/", "./a", "[", "a/[b", `a\`, "a\x00"} {
		require.Error(t, sandbox.CheckPattern(bad), bad)
	}
}
