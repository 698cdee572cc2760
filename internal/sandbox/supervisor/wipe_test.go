package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func openDir(t *testing.T, path string) int {
	t.Helper()
	dir, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = dir.Close() })
	return int(dir.Fd())
}

func TestWipeFollowsNoLink(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a/b"), 0o700))
	for _, link := range []string{"top", "a/middle", "a/b/deep"} {
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, link)))
	}
	w := &wiper{root: openDir(t, dir), until: time.Now().Add(time.Minute)}
	require.NoError(t, w.run())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.FileExists(t, filepath.Join(outside, "kept"))
	info, err := os.Stat(outside)
	require.NoError(t, err)
	require.True(t, info.IsDir())
}

func TestWipeOfATreeDeeperThanAnyPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	for range 3000 { // 6000 bytes: more than PATH_MAX
		require.NoError(t, root.Mkdir("d", 0o700))
		require.NoError(t, root.WriteFile("file", nil, 0o600))
		below, err := root.OpenRoot("d")
		require.NoError(t, err)
		require.NoError(t, root.Close())
		root = below
	}
	w := &wiper{root: openDir(t, dir), until: time.Now().Add(time.Minute)}
	require.NoError(t, w.run())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWipeEndsInTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	w := &wiper{root: openDir(t, dir), until: time.Now().Add(-time.Second)}
	require.ErrorIs(t, w.run(), errTooLong)
}

func TestSystemVList(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "msg")
	for name, tt := range map[string]struct {
		content string
		want    []int
		fails   bool
	}{
		"none":             {"       key      msqid perms\n", nil, false},
		"two":              {" key msqid\n        77          0   600\n -1234 32769 666\n", []int{0, 32769}, false},
		"cut in a number":  {" key msqid\n 77 12 600\n 78 13", []int{12}, false},
		"no list":          {"", nil, true},
		"not a number":     {" key msqid\n 77 x\n", nil, true},
		"more than a read": {" key msqid\n" + strings.Repeat("1 5 600 000000\n", 1000), many(5, 545), false}, // (8192 - 11) / 15
	} {
		require.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
		got, err := sysvIDs(path)
		require.Equal(t, tt.fails, err != nil, "%s: %v", name, err)
		require.Equal(t, tt.want, got, name)
	}
}

func many(id, n int) (ids []int) {
	for range n {
		ids = append(ids, id)
	}
	return ids
}

func TestSnapshotOfTooMuchIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), make([]byte, 600), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), make([]byte, 400), 0o600))
	kept, err := takeSnapshot(dir, 1000)
	require.NoError(t, err)
	require.EqualValues(t, 1000, kept.size)
	_, err = kept.memory.WriteAt([]byte("x"), 0)
	require.Error(t, err, "it is sealed")
	require.NoError(t, kept.memory.Close())
	_, err = takeSnapshot(dir, 999)
	require.ErrorContains(t, err, "more than 999 bytes")
}
