package seal

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOpen takes any bytes as sealed: nothing but what was sealed is opened.
func FuzzOpen(f *testing.F) {
	k := keys(f, first)
	f.Add(k.Seal("place", []byte("plain")), "place")
	f.Add([]byte{Mark}, "")
	f.Add(bytes.Repeat([]byte{Mark}, Overhead), "place")
	f.Fuzz(func(t *testing.T, value []byte, place string) {
		plain, err := k.Open(place, value)
		if err == nil {
			require.Equal(t, "plain", string(plain))
		}
		require.Error(t, k.Verify(string(value), "job", value, place))
		if own, err := ParseKeys(value); err == nil {
			back, err := own.Open(place, own.Seal(place, value))
			require.NoError(t, err)
			require.Len(t, back, len(value))
		}
	})
}
