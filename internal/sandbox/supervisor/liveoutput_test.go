package supervisor

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

func TestLiveOutputIsAllOfTheStream(t *testing.T) {
	t.Parallel()
	var sent bytes.Buffer
	s := newStreams(wire.NewWriter(&sent), 4, 0)
	s.stdout.live = &liveOutput{out: s.out, id: wire.StreamStdout}
	go s.sendLive()
	require.NoError(t, s.stdout.drain(iotest.OneByteReader(strings.NewReader("a")), make([]byte, 16)))
	require.NoError(t, s.stdout.drain(strings.NewReader("bcdefgh"), make([]byte, 4)))
	s.stderr.write([]byte("x")) // wakes the other sender, which must not send stdout again
	require.NoError(t, s.finish())
	require.EqualValues(t, 8, s.stdout.count())
	require.Equal(t, []frame{
		{wire.TypeOutput, "\x01a"},
		{wire.TypeOutputEnd, "\x01"},
		{wire.TypeOutput, "\x01b"},
		{wire.TypeMore, "\x01cde"},
		{wire.TypeMore, "\x01fgh"},
		{wire.TypeOutputEnd, "\x01"},
		{wire.TypeOutput, "\x02x"},
		{wire.TypeTail, "\x01gh"},
	}, frames(t, sent.Bytes()))
}

func TestLiveOutputReportsAReceiverThatIsGone(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	for _, limit := range []int64{1, 100} {
		c := newCapture(limit, 0, func() {})
		c.live = &liveOutput{out: wire.NewWriter(w), id: wire.StreamStdout}
		require.ErrorIs(t, c.drain(strings.NewReader("xxx"), make([]byte, 16)), io.ErrClosedPipe)
		require.ErrorIs(t, c.drain(strings.NewReader(""), make([]byte, 16)), io.ErrClosedPipe)
	}
}
