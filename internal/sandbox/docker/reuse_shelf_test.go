package docker

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// keptTest is a shelf without Docker: boxes are connections to nobody.
type keptTest struct {
	*reuseShelf
	dropped []*box
}

func newKeptTest(t *testing.T, atOnce int) *keptTest {
	t.Helper()
	s := &keptTest{}
	s.reuseShelf = newReuseShelf(func(_ context.Context, b *box) { s.dropped = append(s.dropped, b) })
	for range atOnce {
		s.begin()
	}
	for range atOnce {
		s.end()
	}
	return s
}

func keyOf(batch string) reuseKey {
	return reuseKey{batch: batch, shape: shapeFor("image", sandbox.GiB)}
}

func usedBox() *box {
	ours, _ := net.Pipe()
	return &box{conn: types.NewHijackedResponse(ours, "")}
}

// put makes a box ready.
func (s *keptTest) put(t *testing.T, key reuseKey) *box {
	t.Helper()
	b := usedBox()
	require.True(t, s.expect(b, key))
	require.Empty(t, s.settle(b, key, true))
	return b
}

func TestKeptBoxIsForItsKeyAlone(t *testing.T) {
	t.Parallel()
	s := newKeptTest(t, 3)
	b := s.put(t, keyOf("a"))
	other := keyOf("a")
	other.shape.memory++
	require.Nil(t, s.take(t.Context(), other))
	require.Nil(t, s.take(t.Context(), keyOf("b")))
	require.Nil(t, s.take(t.Context(), keyOf("")))
	require.Same(t, b, s.take(t.Context(), keyOf("a")))
	require.Nil(t, s.take(t.Context(), keyOf("a")), "only once")
	require.Empty(t, s.batches, "what is over is forgotten")
}

func TestLastUsedBoxComesFirst(t *testing.T) {
	t.Parallel()
	s := newKeptTest(t, 2)
	first, second := s.put(t, keyOf("a")), s.put(t, keyOf("a"))
	require.Same(t, second, s.take(t.Context(), keyOf("a")))
	require.Same(t, first, s.take(t.Context(), keyOf("a")))
}

func TestKeptBoxesAreNoMoreThanRanAtOnce(t *testing.T) {
	t.Parallel()
	s := newKeptTest(t, 2)
	first, second := s.put(t, keyOf("a")), s.put(t, keyOf("b"))
	third := usedBox()
	require.True(t, s.expect(third, keyOf("c")))
	require.Equal(t, []*box{first}, s.settle(third, keyOf("c"), true), "the one that was not used for longest")
	require.Equal(t, 2, s.count())
	require.Same(t, second, s.take(t.Context(), keyOf("b")))

	many := newKeptTest(t, reuseTotal+5)
	for range reuseTotal {
		many.put(t, keyOf("a"))
	}
	last := usedBox()
	require.True(t, many.expect(last, keyOf("a")))
	require.Len(t, many.settle(last, keyOf("a"), true), 1)
	require.Equal(t, reuseTotal, many.count())
}

func TestIdleBoxIsDropped(t *testing.T) {
	t.Parallel()
	s := newKeptTest(t, 3)
	old, young := s.put(t, keyOf("a")), s.put(t, keyOf("a"))
	now := time.Now()
	old.used, young.used = now.Add(-reuseIdle), now.Add(time.Second-reuseIdle)
	s.sweep(t.Context(), now)
	require.Equal(t, []*box{old}, s.dropped)
	require.Same(t, young, s.take(t.Context(), keyOf("a")))
}

// taken takes in the background; what it got comes over the channel once it waits no more.
func (s *keptTest) taken(t *testing.T, ctx context.Context, key reuseKey, waiting int) <-chan *box { //nolint:revive // the test comes first
	t.Helper()
	got := make(chan *box, 1)
	go func() { got <- s.take(ctx, key) }()
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.batches[key].waiting) == waiting
	}, testenv.Scale(t, cleanPatience), 10*time.Microsecond)
	return got
}

func TestJobWaitsForABoxThatIsBeingCleaned(t *testing.T) {
	t.Parallel()
	s, key := newKeptTest(t, 2), keyOf("a")
	b := usedBox()
	require.True(t, s.expect(b, key))
	got := s.taken(t, t.Context(), key, 1)
	require.Nil(t, s.take(t.Context(), key), "one box is for one job")
	require.Nil(t, s.take(t.Context(), keyOf("b")))
	require.Empty(t, s.settle(b, key, true))
	require.Same(t, b, <-got)
	require.Zero(t, s.count())
}

func TestJobThatWaitsInVainGetsNothing(t *testing.T) {
	t.Parallel()
	s, key := newKeptTest(t, 2), keyOf("a")
	dirty, clean := usedBox(), usedBox()
	require.True(t, s.expect(dirty, key))
	require.True(t, s.expect(clean, key))
	first := s.taken(t, t.Context(), key, 1)
	second := s.taken(t, t.Context(), key, 2)
	require.Equal(t, []*box{dirty}, s.settle(dirty, key, false))
	require.Nil(t, <-second, "the last to come goes away")
	require.Empty(t, s.settle(clean, key, true))
	require.Same(t, clean, <-first)

	slow := usedBox()
	require.True(t, s.expect(slow, key))
	require.Nil(t, s.take(t.Context(), key), "its patience has an end")
	ctx, cancel := context.WithCancel(t.Context())
	gone := s.taken(t, ctx, key, 1)
	cancel()
	require.Nil(t, <-gone)
	require.Empty(t, s.settle(slow, key, true))
	require.Same(t, slow, s.take(t.Context(), key), "it is there for the next")
}

func TestClosedShelfKeepsNothing(t *testing.T) {
	t.Parallel()
	s, key := newKeptTest(t, 2), keyOf("a")
	ready, cleaning := s.put(t, keyOf("b")), usedBox()
	require.True(t, s.expect(cleaning, key))
	got := s.taken(t, t.Context(), key, 1)
	require.Equal(t, []*box{ready}, s.close())
	require.Nil(t, <-got)
	_, err := cleaning.conn.Conn.Write([]byte("x"))
	require.Error(t, err, "its cleaning is cut off")
	require.Equal(t, []*box{cleaning}, s.settle(cleaning, key, false))
	require.False(t, s.expect(usedBox(), key))
	require.Nil(t, s.take(t.Context(), keyOf("b")))
}
