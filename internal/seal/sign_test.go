package seal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The code was worked out apart from this package: HKDF and HMAC in a few lines of Python.
const signature = "f0faee4d:bfe68b18a4ab8b85b5b6cb019ae1271718676a766eedf4cecf4b0bbdeb0e0b8d"

func TestASignatureIsOfItsBodyAndPartsAlone(t *testing.T) {
	t.Parallel()
	k := keys(t, first)
	require.Equal(t, signature, k.Sign("job", []byte("body"), "alice", "7"))
	require.NoError(t, k.Verify(signature, "job", []byte("body"), "alice", "7"))
	for name, err := range map[string]error{
		"another body":     k.Verify(signature, "job", []byte("Body"), "alice", "7"),
		"another part":     k.Verify(signature, "job", []byte("body"), "alicf", "7"),
		"parts in a row":   k.Verify(signature, "job", []byte("body"), "alice7", ""),
		"a part less":      k.Verify(signature, "job", []byte("body"), "alice"),
		"a part as body":   k.Verify(signature, "job", []byte("7body"), "alice"),
		"another purpose":  k.Verify(signature, "result", []byte("body"), "alice", "7"),
		"a bit of it":      k.Verify(strings.Replace(signature, "bfe6", "bfe7", 1), "job", []byte("body"), "alice", "7"),
		"cut":              k.Verify(signature[:40], "job", []byte("body"), "alice", "7"),
		"the id alone":     k.Verify("f0faee4d:", "job", []byte("body"), "alice", "7"),
		"no hex":           k.Verify("f0faee4d:zz", "job", []byte("body"), "alice", "7"),
		"an id that is no": k.Verify("f0:00", "job", []byte("body"), "alice", "7"),
	} {
		require.ErrorIs(t, err, ErrForged, name)
	}
	require.ErrorIs(t, k.Verify("", "job", []byte("body"), "alice", "7"), ErrUnsigned)
}

func TestKeysAreReplacedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	old, both, next := keys(t, first), keys(t, second, first), keys(t, second)
	require.NoError(t, both.Verify(old.Sign("job", nil, "a"), "job", nil, "a"))
	require.NoError(t, next.Verify(both.Sign("job", nil, "a"), "job", nil, "a"))
	require.ErrorIs(t, old.Verify(both.Sign("job", nil, "a"), "job", nil, "a"), ErrUnknownKey)
	err := next.Verify(old.Sign("job", nil, "a"), "job", nil, "a")
	require.ErrorIs(t, err, ErrUnknownKey)
	require.EqualError(t, err, "it is signed with the key f0faee4d, which is not among the keys here")
}

func TestNoKeysSignNothingAndTakeEverything(t *testing.T) {
	t.Parallel()
	var none *Keys
	require.Empty(t, none.Sign("job", nil))
	require.NoError(t, none.Verify("whatever", "job", nil))
	require.Nil(t, none.Digests("hash", "a"))
}

func TestDigestsAreOneForEachKey(t *testing.T) {
	t.Parallel()
	both := keys(t, second, first).Digests("hash", "a")
	require.Equal(t, []string{keys(t, second).Digests("hash", "a")[0], keys(t, first).Digests("hash", "a")[0]}, both)
	require.NotEqual(t, both, keys(t, second, first).Digests("hash", "b"))
	require.NotEqual(t, both, keys(t, second, first).Digests("stamp", "a"))
	require.Len(t, both[0], 32)
}
