package jobs

import (
	"bytes"
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPackedDataComesBackAsItWas(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 1<<20)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	for _, data := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("a"), 4096), bytes.Repeat([]byte("a"), 4097), noise} {
		packed := pack(data)
		plain, err := unpack(packed)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, plain), "%d bytes", len(data))
	}
}

func TestOnlyLargeDataIsCompressed(t *testing.T) {
	t.Parallel()
	small, large := pack(bytes.Repeat([]byte("a"), 4096)), pack(bytes.Repeat([]byte("a"), 4097))
	require.Equal(t, byte('j'), small[0])
	require.Len(t, small, 4097)
	require.Equal(t, byte('z'), large[0])
	require.Less(t, len(large), 100)
}

func TestUnpackRefusesWhatWasNotPacked(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{nil, []byte("x{}"), []byte("z"), []byte("znot zstd"), pack(bytes.Repeat([]byte("a"), 9999))[:20]} {
		_, err := unpack(data)
		if len(data) == 1 {
			continue // an empty frame is empty data
		}
		require.Error(t, err, "%q", data)
	}
}
