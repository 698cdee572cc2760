package supervisor

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// openFeed makes a feed, whose credits can be read, and the program's end of its pipe.
func openFeed(t *testing.T) (*feed, *os.File, func() int) {
	t.Helper()
	ours, theirs := io.Pipe()
	f := newFeed(wire.NewWriter(theirs))
	program, err := f.open()
	require.NoError(t, err)
	frames := wire.NewReader(ours)
	credit := func() int {
		kind, payload, err := frames.Read()
		require.NoError(t, err)
		require.Equal(t, wire.TypeCredit, kind)
		require.Len(t, payload, 4)
		return int(binary.BigEndian.Uint32(payload))
	}
	require.Equal(t, 256<<10, credit(), "the first tells that the test has begun")
	return f, program, credit
}

func TestFeedGivesAllInOrderAndThenTheEnd(t *testing.T) {
	t.Parallel()
	f, program, credit := openFeed(t)
	data := make([]byte, 128<<10)
	for i := range data {
		data[i] = byte(i ^ i>>8)
	}
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 1000)
		require.NoError(t, f.take(wire.TypeInput, rest[:n]))
		rest = rest[n:]
	}
	require.NoError(t, f.take(wire.TypeInputEnd, nil))
	credits := make(chan int, 1)
	go func() { credits <- credit() }()
	got, err := io.ReadAll(program)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
	require.Equal(t, 128<<10, <-credits, "once half of the window is taken")
	f.close()
	require.NoError(t, program.Close())
}

func TestFeedDoesNotWaitForAProgramThatDoesNotRead(t *testing.T) {
	t.Parallel()
	f, program, credit := openFeed(t)
	for range 256 << 10 {
		require.NoError(t, f.take(wire.TypeInput, []byte("x")))
	}
	f.mu.Lock()
	require.LessOrEqual(t, cap(f.queue), 512<<10, "small pieces cost no more than what is in them")
	f.mu.Unlock()
	require.ErrorContains(t, f.take(wire.TypeInput, []byte("x")), "262145 bytes of input at once: want at most 262144")

	buf := make([]byte, 160<<10) // what is in the pipe and half of the window
	go func() { _, _ = io.ReadFull(program, buf) }()
	require.GreaterOrEqual(t, credit(), 128<<10, "it reads after all")
	f.close()
	require.NoError(t, f.take(wire.TypeInput, make([]byte, 1<<20)), "what comes late is dropped")
	require.NoError(t, program.Close())
}

func TestFeedEndsWhileItsProgramDoesNotRead(t *testing.T) {
	t.Parallel()
	f, program, _ := openFeed(t)
	require.NoError(t, f.take(wire.TypeInput, make([]byte, 256<<10)))
	one := make([]byte, 1)
	_, err := io.ReadFull(program, one) // so that it has begun to write
	require.NoError(t, err)
	f.close()
	f.close()
	rest, err := io.ReadAll(program)
	require.NoError(t, err, "the pipe has an end")
	require.Less(t, len(rest), 256<<10)
	require.NoError(t, program.Close())
}

func TestFeedDropsWhatAProgramDoesNotWant(t *testing.T) {
	t.Parallel()
	f, program, credit := openFeed(t)
	require.NoError(t, program.Close())
	for range 20 { // many windows
		require.NoError(t, f.take(wire.TypeInput, make([]byte, 128<<10)))
		require.Equal(t, 128<<10, credit())
	}
	f.close()
}

func TestFeedThatWasNeverOpened(t *testing.T) {
	t.Parallel()
	f := newFeed(nil)
	f.close()
	require.NoError(t, f.take(wire.TypeInput, []byte("x")))
}
