package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// pieces notes each write.
type pieces struct {
	sizes []int
	bytes.Buffer
	fail error
}

func (p *pieces) Write(data []byte) (int, error) {
	if p.fail != nil {
		return 0, p.fail
	}
	p.sizes = append(p.sizes, len(data))
	return p.Buffer.Write(data)
}

func TestFramesThatAreHeldGoOutInOnePiece(t *testing.T) {
	t.Parallel()
	var out pieces
	w := NewWriter(&out)
	w.SetKey([]byte("key"))
	w.Hold()
	require.NoError(t, w.Write(TypeOutput, []byte("abc")))
	require.NoError(t, w.Write(TypeEnd))
	require.Empty(t, out.sizes)
	require.NoError(t, w.Release())
	require.NoError(t, w.Release(), "there is nothing more")
	require.NoError(t, w.Write(TypeClean))
	require.Equal(t, []int{5 + 3 + 16 + 5 + 16, 5 + 16}, out.sizes)

	w.Hold()
	require.NoError(t, w.Write(TypeStep, []byte("x")))
	require.NoError(t, w.Write(TypeData, make([]byte, ChunkSize)))
	require.Equal(t, []int{45, 21, 22, ChunkSize + 21}, out.sizes, "what is long waits for nothing, and nothing overtakes")

	r := NewReader(&out.Buffer)
	r.SetKey([]byte("key"))
	for _, want := range []Type{TypeOutput, TypeEnd, TypeClean, TypeStep, TypeData} {
		kind, _, err := r.Read()
		require.NoError(t, err)
		require.Equal(t, want, kind)
	}
}

func TestFramesThatWereHeldCanFail(t *testing.T) {
	t.Parallel()
	out := pieces{fail: errors.New("broken")}
	w := NewWriter(&out)
	w.Hold()
	require.NoError(t, w.Write(TypeEnd))
	require.ErrorIs(t, w.Release(), out.fail)
	require.ErrorIs(t, w.Write(TypeEnd), out.fail)
}
