package supervisor

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestCaptureKeepsHeadAndTail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit            int64
		text, head, last string
	}{
		"nothing":            {10, "", "", ""},
		"less than the head": {10, "abc", "abc", ""},
		"all of the limit":   {10, "abcdefghij", "abcde", "fghij"},
		"one more":           {10, "abcdefghijk", "abcde", "ghijk"},
		"odd limit":          {5, "abcdefgh", "abc", "gh"},
		"limit of one":       {1, "abc", "a", ""},
		"ring twice around":  {4, "ab123456789", "ab", "89"},
	} {
		for _, chunk := range []int{1, 2, 3, 1000} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := newCapture(test.limit, 0, func() {})
				for rest := []byte(test.text); len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
					c.write(rest[:min(chunk, len(rest))])
				}
				first, second := c.tail()
				require.Equal(t, test.head, string(c.next(1000)))
				require.Equal(t, test.last, string(first)+string(second))
				require.Equal(t, int64(len(test.text)), c.count())
			})
		}
	}
}

func TestCaptureNextReturnsEachByteOnce(t *testing.T) {
	t.Parallel()
	wakes := 0
	c := newCapture(8, 0, func() { wakes++ })
	c.write([]byte("abc"))
	require.Equal(t, 3, c.unsent())
	require.Equal(t, "ab", string(c.next(2)))
	first := c.next(10)
	c.write([]byte("defg"))
	require.Equal(t, "c", string(first))
	require.Equal(t, "d", string(c.next(10)))
	require.Empty(t, c.next(10))
	c.write([]byte("more"))
	require.Equal(t, 2, wakes, "what only goes to the ring wakes nobody")
}

func TestCaptureTellsOnceWhenItsLimitIsPassed(t *testing.T) {
	t.Parallel()
	c := newCapture(2, 5, func() {})
	c.write([]byte("12345"))
	select {
	case <-c.over:
		require.Fail(t, "5 bytes do not pass 5")
	default:
	}
	c.write([]byte("6"))
	<-c.over
	c.write([]byte("7")) // must not close it again
}

func TestDrainEndsAtEOFAndReportsErrors(t *testing.T) {
	t.Parallel()
	c := newCapture(100, 0, func() {})
	require.NoError(t, c.drain(iotest.OneByteReader(strings.NewReader("hello")), make([]byte, 16)))
	require.Equal(t, "hello", string(c.next(100)))
	require.ErrorIs(t, c.drain(iotest.ErrReader(io.ErrClosedPipe), make([]byte, 16)), io.ErrClosedPipe)
}

func TestRingAgainstAPlainSlice(t *testing.T) {
	t.Parallel()
	for size := 1; size <= 7; size++ {
		r := ring{size: size}
		var all []byte
		for i := range 200 {
			piece := bytes.Repeat([]byte{byte(i)}, i%(2*size+2))
			r.write(piece)
			all = append(all, piece...)
			first, second := r.contents()
			require.Equal(t, string(all[max(0, len(all)-size):]), string(first)+string(second), "size %d, write %d", size, i)
		}
	}
}
