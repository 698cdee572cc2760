package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestStreamJoinsHeadAndTail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		head, tail string
		total      int64
		data       string
		cutAt      int
		truncated  bool
	}{
		"empty":                        {"", "", 0, "", 0, false},
		"all of it":                    {"abc", "def", 6, "abcdef", 0, false},
		"one byte is missing":          {"abc", "def", 7, "abcdef", 3, true},
		"character at the seam, whole": {"a\xc3", "\xa9b", 4, "aéb", 0, false},
		"head ends in a character":     {"ab\xc3", "xyz", 100, "abxyz", 2, true},
		"head ends in three of four":   {"ab\xf0\x9f\x98", "xyz", 100, "abxyz", 2, true},
		"head ends with a whole one":   {"abé", "xyz", 100, "abéxyz", 4, true},
		"tail begins in a character":   {"ab", "\x9f\x98\x80z", 100, "abz", 2, true},
		"tail begins with a whole one": {"ab", "éz", 100, "abéz", 2, true},
		"both cut":                     {"a\xe2\x82", "\x82\xacb", 100, "ab", 1, true},
		"not text at all":              {"\xff\xff", "\xff\xff", 100, "\xff\xff\xff\xff", 2, true},
		"only a tail":                  {"", "xyz", 100, "xyz", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, sandbox.Stream{
				Data: sandbox.Bytes(test.data), Total: test.total, Truncated: test.truncated, CutAt: test.cutAt,
			}, sandbox.NewStream([]byte(test.head), []byte(test.tail), test.total))
		})
	}
}

func TestStreamAsTextTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abc", sandbox.NewStream([]byte("abc"), nil, 3).Text())
	require.Equal(t, "abc\n[... 4 of 10 bytes not kept ...]\nhij", sandbox.NewStream([]byte("abc"), []byte("hij"), 10).Text())
}

func TestStreamDoesNotChangeItsInput(t *testing.T) {
	t.Parallel()
	backing := []byte("headTAIL")
	stream := sandbox.NewStream(backing[:4], []byte(strings.Repeat("t", 4)), 8)
	require.Equal(t, "headtttt", string(stream.Data))
	require.Equal(t, "headTAIL", string(backing))
}
