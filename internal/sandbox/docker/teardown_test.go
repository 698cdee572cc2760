package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	started := map[string]bool{}
	for id := range ids {
		started[id] = true
	}
	require.Len(t, started, cap(ids))
	var left []string
	require.Eventually(t, func() bool {
		left = shimsOf(t, started)
		return len(left) == 0
	}, testenv.Scale(t, 20*time.Second), 20*time.Millisecond, "shims are left: %s", &left)
}

// shimsOf lists the processes of this machine that serve one of the containers: containerd-shim has its container's id among its arguments.
func shimsOf(t *testing.T, ids map[string]bool) (found []string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, name := range processes {
		line, _ := os.ReadFile(name) // it may have ended meanwhile
		words := strings.Split(string(line), "\x00")
		if !strings.Contains(words[0], "containerd-shim") {
			continue
		}
		for _, word := range words {
			if ids[word] {
				found = append(found, word)
			}
		}
	}
	return found
}
