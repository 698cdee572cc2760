package seal

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// What another implementation of AES-GCM (Python's cryptography) made of "plain" for "place" with the nonce 00 01 .. 0b.
const sealed = "73f0faee4d000102030405060708090a0bf0aa39394bb93f71f2b6e71ba5bb94836bf3fd86f1"

func TestASealedValueIsOpenedInItsPlaceAlone(t *testing.T) {
	t.Parallel()
	k := keys(t, first)
	value, err := hex.DecodeString(sealed)
	require.NoError(t, err)
	plain, err := k.Open("place", value)
	require.NoError(t, err)
	require.Equal(t, "plain", string(plain))
	_, err = k.Open("palace", value)
	require.ErrorIs(t, err, ErrTampered)
	for at := range value {
		changed := bytes.Clone(value)
		changed[at] ^= 1
		_, err := k.Open("place", changed)
		require.Error(t, err, "a bit of byte %d", at)
	}
	for length := range value {
		_, err := k.Open("place", value[:length])
		require.Error(t, err, "the first %d bytes", length)
	}
	_, err = k.Open("place", append(value, 0))
	require.ErrorIs(t, err, ErrTampered)
}

func TestWhatIsSealedShowsNothingAndIsNewEachTime(t *testing.T) {
	t.Parallel()
	k := keys(t, first)
	for _, plain := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("secret "), 10_000)} {
		one, other := k.Seal("place", plain), k.Seal("place", plain)
		require.NotEqual(t, one, other)
		require.Len(t, one, len(plain)+Overhead)
		require.NotContains(t, string(one), "secret")
		require.True(t, Sealed(one))
		back, err := k.Open("place", one)
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain, back))
	}
}

func TestWhoLacksTheKeyIsTold(t *testing.T) {
	t.Parallel()
	value := keys(t, first).Seal("place", []byte("x"))
	for _, k := range []*Keys{nil, keys(t, second)} {
		_, err := k.Open("place", value)
		require.ErrorIs(t, err, ErrUnknownKey)
		require.EqualError(t, err, "it is sealed with the key f0faee4d, which is not among the keys here")
	}
	plain, err := keys(t, second, first).Open("place", value)
	require.NoError(t, err, "an old key")
	require.Equal(t, "x", string(plain))
}

func TestPlainValuesAreForThoseWithoutKeys(t *testing.T) {
	t.Parallel()
	var none *Keys
	require.Equal(t, []byte("jx"), none.Seal("place", []byte("jx")))
	plain, err := none.Open("place", []byte("jx"))
	require.NoError(t, err)
	require.Equal(t, []byte("jx"), plain)
	for _, value := range [][]byte{nil, []byte("jx")} {
		_, err := keys(t, first).Open("place", value)
		require.ErrorIs(t, err, ErrNotSealed, "anybody could have put it there")
	}
}

func BenchmarkSeal(b *testing.B) {
	k := keys(b, first)
	for name, size := range map[string]int{"200B": 200, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			value := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := k.Open("place", k.Seal("place", value)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
