package docker

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// shelfTest is a pool without Docker: boxes are connections to nobody.
type shelfTest struct {
	*pool
	started, dropped []shape
	fail             map[string]error // by image
}

func newShelfTest(t *testing.T, size, total int) *shelfTest {
	t.Helper()
	s := &shelfTest{fail: map[string]error{}}
	s.pool = newPool(Options{PoolSize: size, WarmTotal: total, WarmAge: time.Hour}, s.startBox, func(_ context.Context, b *box) {
		s.dropped = append(s.dropped, b.shape)
		b.hangUp()
	})
	t.Cleanup(func() {
		for _, b := range s.close() {
			b.hangUp()
		}
	})
	return s
}

func (s *shelfTest) startBox(_ context.Context, of shape) (*box, error) {
	if err := s.fail[of.imageID]; err != nil {
		return nil, err
	}
	s.started = append(s.started, of)
	ours, _ := net.Pipe()
	return &box{shape: of, created: time.Now(), conn: types.NewHijackedResponse(ours, "")}, nil
}

func shapeFor(image string, memory int64) shape {
	limits := sandbox.DefaultLimits()
	limits.Memory = memory
	return shapeOf(image, limits, false)
}

func TestPoolFillsWhatIsWanted(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 2, 10)
	small := shapeFor("a", sandbox.GiB)
	require.Nil(t, p.take(small), "it is empty, and now knows what is wanted")
	require.NoError(t, p.fill(t.Context()))
	require.Equal(t, []shape{small, small}, p.started)
	require.NotNil(t, p.take(small))
	require.Equal(t, 1, p.count())
}

func TestPoolPrefersTheExactLimits(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 2, 10)
	small, large := shapeFor("a", sandbox.GiB), shapeFor("a", 2*sandbox.GiB)
	p.pin(small)
	require.NoError(t, p.fill(t.Context()))
	require.Equal(t, small, p.take(large).shape, "to be changed by an update")
	require.NoError(t, p.fill(t.Context()))
	require.Equal(t, large, p.started[2], "the next box is like the last job")
	require.Equal(t, large, p.take(large).shape)
	require.Equal(t, small, p.take(small).shape)
	require.Nil(t, p.take(shapeFor("b", sandbox.GiB)), "another image never fits")
}

func TestPoolWithoutUpdatesGivesOnlyTheExactLimits(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 1, 10)
	small, large := shapeFor("a", sandbox.GiB), shapeFor("a", 2*sandbox.GiB)
	p.pin(small)
	require.NoError(t, p.fill(t.Context()))
	p.refuseUpdates("")
	require.Nil(t, p.take(large))
	require.NoError(t, p.fill(t.Context()))
	require.Equal(t, large, p.take(large).shape)
	require.Equal(t, small, p.take(small).shape)
}

func TestPoolKeepsTheRuntimesApart(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 1, 10)
	small, large := shapeFor("a", sandbox.GiB), shapeFor("a", 2*sandbox.GiB)
	p.pin(small)
	p.pin(small.on("runsc"))
	require.NoError(t, p.fill(t.Context()))
	p.refuseUpdates("runsc")
	require.Nil(t, p.take(large.on("runsc")), "it takes no update")
	require.Equal(t, small, p.take(large).shape, "the other runtime takes them still")
	require.Equal(t, small.on("runsc"), p.take(small.on("runsc")).shape)
	require.Nil(t, p.take(small), "nothing of another runtime fits")
}

func TestPoolIsBoundedAndForgetsTheLeastUsed(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 2, 3)
	a, b := shapeFor("a", sandbox.GiB), shapeFor("b", sandbox.GiB)
	p.pin(a)
	require.NoError(t, p.fill(t.Context()))
	require.Nil(t, p.take(b))
	require.NoError(t, p.fill(t.Context()))
	require.Equal(t, 3, p.count())
	require.Equal(t, []shape{a}, p.dropped)
	require.Equal(t, []shape{a, a, b, b}, p.started)
	require.Nil(t, p.take(shapeFor("c", sandbox.GiB)))
	require.NoError(t, p.fill(t.Context()))
	require.Equal(t, 3, p.count())
	require.Nil(t, p.take(a), "two for c and one for b")
}

func TestPoolOneImageThatFailsDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 1, 10)
	broken := errors.New("no such image")
	p.fail["a"] = broken
	p.pin(shapeFor("b", sandbox.GiB))
	p.pin(shapeFor("a", sandbox.GiB))
	require.ErrorIs(t, p.fill(t.Context()), broken)
	require.Equal(t, 1, p.count())
}

func TestPoolDiscardsTheOldAndTheDead(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 3, 10)
	s := shapeFor("a", sandbox.GiB)
	p.pin(s)
	require.NoError(t, p.fill(t.Context()))
	shelf := p.shelves[p.shelfOf(s)]
	shelf.boxes[0].created = time.Now().Add(-2 * time.Hour)
	shelf.boxes[1].hangUp()
	p.discard(t.Context())
	require.Equal(t, 1, p.count())
	require.Len(t, p.dropped, 2)

	shelf.used = time.Now().Add(-2 * time.Hour)
	p.discard(t.Context())
	require.Equal(t, 1, p.count(), "what is pinned stays")
	shelf.pinned = false
	p.discard(t.Context())
	require.Zero(t, p.count())
}

func TestPoolNeverGivesAnOldBox(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 1, 10)
	s := shapeFor("a", sandbox.GiB)
	p.pin(s)
	require.NoError(t, p.fill(t.Context()))
	p.shelves[p.shelfOf(s)].boxes[0].created = time.Now().Add(-2 * time.Hour)
	require.Nil(t, p.take(s))
}

func TestClosedPoolKeepsNothing(t *testing.T) {
	t.Parallel()
	p := newShelfTest(t, 1, 10)
	s := shapeFor("a", sandbox.GiB)
	p.pin(s)
	require.Empty(t, p.close())
	late, _ := p.startBox(t.Context(), s)
	require.Equal(t, late, p.put(late), "a box that comes late is handed back")
	late.hangUp()
	require.NoError(t, p.fill(t.Context()))
	require.Nil(t, p.take(s))
}
