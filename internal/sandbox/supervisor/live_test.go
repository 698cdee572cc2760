package supervisor

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

type frame struct {
	kind    wire.Type
	payload string
}

func frames(t *testing.T, stream []byte) (all []frame) {
	t.Helper()
	in := wire.NewReader(bytes.NewReader(stream))
	for {
		kind, payload, err := in.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, frame{kind, string(payload)})
	}
}

func TestStreamsSendHeadsThenTails(t *testing.T) {
	t.Parallel()
	var sent bytes.Buffer
	s := newStreams(wire.NewWriter(&sent), 4, 0)
	go s.sendLive()
	s.stdout.write([]byte("abcdef"))
	s.stderr.write([]byte("x"))
	require.NoError(t, s.finish())
	require.Equal(t, []frame{
		{wire.TypeOutput, "\x01ab"}, {wire.TypeOutput, "\x02x"}, {wire.TypeTail, "\x01ef"},
	}, frames(t, sent.Bytes()))
}

func TestStreamsGatherSmallWrites(t *testing.T) {
	t.Parallel()
	var sent bytes.Buffer
	s := newStreams(wire.NewWriter(&sent), 1<<20, 0)
	go s.sendLive()
	for range 100_000 {
		s.stdout.write([]byte("x"))
	}
	require.NoError(t, s.finish())
	all := frames(t, sent.Bytes())
	total := 0
	for _, f := range all {
		require.Equal(t, wire.TypeOutput, f.kind)
		total += len(f.payload) - 1
	}
	require.Equal(t, 100_000, total)
	require.Less(t, len(all), 100)
}

func TestStreamsReportAReceiverThatIsGone(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	s := newStreams(wire.NewWriter(w), 10, 0)
	go s.sendLive()
	s.stdout.write([]byte("x"))
	require.ErrorIs(t, s.finish(), io.ErrClosedPipe)
}

func TestAStuckReceiverDoesNotStopTheCapture(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	s := newStreams(wire.NewWriter(w), 10<<20, 0)
	go s.sendLive()
	for range 4096 {
		s.stdout.write(make([]byte, 1024)) // returns although nobody reads
	}
	require.Equal(t, int64(4<<20), s.stdout.count())
	received := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, r)
		received <- n
	}()
	require.NoError(t, s.finish())
	require.NoError(t, w.Close())
	require.Greater(t, <-received, int64(4<<20))
}
