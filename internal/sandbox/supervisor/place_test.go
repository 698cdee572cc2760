package supervisor

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// sentData is a reader of TypeData frames, one for each piece.
func sentData(t *testing.T, pieces ...string) *wire.Reader {
	t.Helper()
	var stream bytes.Buffer
	out := wire.NewWriter(&stream)
	for _, piece := range pieces {
		require.NoError(t, out.Write(wire.TypeData, []byte(piece)))
	}
	return wire.NewReader(&stream)
}

func TestFilesArePlacedFromFramesOfAnySize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := wire.Spec{
		Files:     []wire.FileHeader{{Path: "a/b/one", Size: 5}, {Path: "empty"}, {Path: "two", Size: 3, Executable: true}},
		StdinSize: 4,
	}
	data := newDataReader(sentData(t, "on", "", "e-1tw", "ostd", "i"), spec)
	require.NoError(t, placeFiles(dir, spec.Files, data))
	for name, want := range map[string]struct {
		content string
		mode    os.FileMode
	}{"a/b/one": {"one-1", 0o644}, "empty": {"", 0o644}, "two": {"two", 0o755}} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want.content, string(content))
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want.mode, info.Mode().Perm())
	}
	in, err := newInput(data, spec.StdinSize)
	require.NoError(t, err)
	defer func() { require.NoError(t, in.memory.Close()) }()
	require.Empty(t, data.rest)
	require.Zero(t, data.due)
	for range 2 { // each step starts at the beginning
		opened, err := in.open(true)
		require.NoError(t, err)
		content, err := io.ReadAll(opened)
		require.NoError(t, err)
		require.Equal(t, "stdi", string(content))
		_, err = opened.WriteString("x")
		require.Error(t, err)
		require.NoError(t, opened.Close())
	}
	_, err = in.memory.WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, syscall.EPERM, "sealed")
}

func TestDataThatIsNotThereOrSomethingElse(t *testing.T) {
	t.Parallel()
	files := []wire.FileHeader{{Path: "x", Size: 10}}
	err := placeFiles(t.TempDir(), files, newDataReader(sentData(t, "12345"), wire.Spec{Files: files}))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	var stream bytes.Buffer
	require.NoError(t, wire.NewWriter(&stream).Write(wire.TypeCancel))
	err = placeFiles(t.TempDir(), files, newDataReader(wire.NewReader(&stream), wire.Spec{Files: files}))
	require.ErrorContains(t, err, "while data is due")
}

func TestPlacingStaysInsideTheWorkspace(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for _, path := range []string{"../x", "/x", "a/../../x", "link/x", "linkfile", "."} {
		dir := t.TempDir()
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link")))
		require.NoError(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(dir, "linkfile")))
		require.Error(t, placeFiles(dir, []wire.FileHeader{{Path: path}}, nil), path)
	}
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestNoInputIsTheEndAtOnce(t *testing.T) {
	t.Parallel()
	in, err := newInput(nil, 0)
	require.NoError(t, err)
	opened, err := in.open(true)
	require.NoError(t, err)
	content, err := io.ReadAll(opened)
	require.NoError(t, err)
	require.Empty(t, content)
	require.NoError(t, opened.Close())
}

func TestDiscardReadsWhatIsDue(t *testing.T) {
	t.Parallel()
	spec := wire.Spec{Files: []wire.FileHeader{{Path: "x", Size: 6}}, StdinSize: 4}
	frames := sentData(t, "12345", "67890", "not due")
	newDataReader(frames, spec).discard()
	_, payload, err := frames.Read()
	require.NoError(t, err)
	require.Equal(t, "not due", string(payload))
	newDataReader(frames, spec).discard() // ends at the end of the stream
}
