package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
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
	w := wire.NewWriter(&out)
	w.SetKey([]byte("key"))
	w.Hold()
	require.NoError(t, w.Write(wire.TypeOutput, []byte("abc")))
	require.NoError(t, w.Write(wire.TypeEnd))
	require.Empty(t, out.sizes)
	require.NoError(t, w.Release())
	require.NoError(t, w.Release(), "there is nothing more")
	require.NoError(t, w.Write(wire.TypeClean))
	require.Equal(t, []int{3 + 2*overhead, overhead}, out.sizes)

	w.Hold()
	require.NoError(t, w.Write(wire.TypeStep, []byte("x")))
	require.NoError(t, w.Write(wire.TypeData, make([]byte, wire.ChunkSize)))
	require.Equal(t, []int{3 + 2*overhead, overhead, 1 + overhead, wire.ChunkSize + overhead}, out.sizes, "what is long waits for nothing, and nothing overtakes")

	r := wire.NewReader(&out.Buffer)
	r.SetKey([]byte("key"))
	for _, want := range []wire.Type{wire.TypeOutput, wire.TypeEnd, wire.TypeClean, wire.TypeStep, wire.TypeData} {
		kind, _, err := r.Read()
		require.NoError(t, err)
		require.Equal(t, want, kind)
	}
}

func TestFramesThatWereHeldCanFail(t *testing.T) {
	t.Parallel()
	out := pieces{fail: errors.New("broken")}
	w := wire.NewWriter(&out)
	w.Hold()
	require.NoError(t, w.Write(wire.TypeEnd))
	require.ErrorIs(t, w.Release(), out.fail)
	require.ErrorIs(t, w.Write(wire.TypeEnd), out.fail)
}
