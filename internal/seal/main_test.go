package seal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The keys of the tests, each of 32 bytes.
const (
	first  = "0123456789abcdef0123456789abcdef"
	second = "second-key-of-32-bytes-0123456789"
)

func keys(t testing.TB, lines ...string) *Keys {
	t.Helper()
	k, err := ParseKeys([]byte(strings.Join(lines, "\n")))
	require.NoError(t, err)
	return k
}
