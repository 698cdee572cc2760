package docker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/sandloop/sandloop/internal/testenv"
)

// A daemon that finds a container already dead when it kills it can take it for gone before its runtime does. Then Docker has no such container
// any more, and its shim, a process of some MB, stays for ever.
func TestNoShimOutlivesItsContainer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	found, err := b.images.resolve(t.Context(), testenv.Image(t))
	require.NoError(t, err)
	s := shapeOf(found.id, b.options.Defaults, false)
	witness, err := b.startShape(t.Context(), s)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.remove(t.Context(), witness)) }()
	testenv.RequireShims(t, witness.id)
	ids := make(chan string, 80)
	var group errgroup.Group
	group.SetLimit(4)
	for range cap(ids) {
		group.Go(func() error {
			box, err := b.startShape(t.Context(), s)
			if err != nil {
				return err
			}
			ids <- box.id
			return b.remove(t.Context(), box) // it ends by itself as the connection closes, and is killed at the same time
		})
	}
	require.NoError(t, group.Wait())
	close(ids)
	var started []string
	for id := range ids {
		started = append(started, id)
	}
	require.Len(t, started, cap(ids))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		left, err := testenv.Shims(started...)
		assert.NoError(c, err)
		assert.Empty(c, left, "shims are left")
	}, testenv.Scale(t, 20*time.Second), 20*time.Millisecond)
}
