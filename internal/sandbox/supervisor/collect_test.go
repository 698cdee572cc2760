package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// collected is what collect sends from dir.
func collected(t *testing.T, dir string, spec wire.Spec) (map[string]string, []sandbox.RefusedFile) {
	t.Helper()
	var sent bytes.Buffer
	refused, err := collect(dir, spec, wire.NewWriter(&sent))
	require.NoError(t, err)
	files := map[string]string{}
	current := ""
	for _, f := range frames(t, sent.Bytes()) {
		if f.kind == wire.TypeFile {
			var header wire.FileHeader
			require.NoError(t, json.Unmarshal([]byte(f.payload), &header))
			current = header.Path
			files[current] = ""
			continue
		}
		require.Equal(t, wire.TypeData, f.kind)
		files[current] += f.payload
	}
	return files, refused
}

func TestCollectMatchesPatternsAtAnyDepth(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{
		"a.txt": "1", "b.log": "2", "d/a.txt": "3", "d/e/a.txt": "4", "d/e/f/a.csv": "5", ".hidden.txt": "6",
		".sandloop-out/built.txt": "7", "d/e/.sandloop-out": "8",
	})
	for name, test := range map[string]struct {
		patterns []string
		want     map[string]string
	}{
		"one level":          {[]string{"*.txt"}, map[string]string{"a.txt": "1", ".hidden.txt": "6"}},
		"named":              {[]string{"d/a.txt", "no.txt"}, map[string]string{"d/a.txt": "3"}},
		"any depth":          {[]string{"**/a.txt"}, map[string]string{"a.txt": "1", "d/a.txt": "3", "d/e/a.txt": "4"}},
		"below a directory":  {[]string{"d/**/*.csv"}, map[string]string{"d/e/f/a.csv": "5"}},
		"not what was built": {[]string{"**/.sandloop-out", "*/built.txt"}, map[string]string{"d/e/.sandloop-out": "8"}},
		"twice is sent once": {[]string{"*.log", "b.*"}, map[string]string{"b.log": "2"}},
		"nothing":            {nil, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, refused := collected(t, dir, wire.Spec{Outputs: test.patterns, FilesOut: 10, FileBytes: 100})
			require.Equal(t, test.want, files)
			require.Empty(t, refused)
		})
	}
}

func TestCollectNeverFollowsALink(t *testing.T) {
	t.Parallel()
	secret := fixture(t, map[string]string{"key.txt": "secret"})
	dir := fixture(t, map[string]string{"own.txt": "own"})
	require.NoError(t, os.Symlink(filepath.Join(secret, "key.txt"), filepath.Join(dir, "link.txt")))
	require.NoError(t, os.Symlink("own.txt", filepath.Join(dir, "inner.txt")))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "dir")))
	require.NoError(t, os.Symlink("/", filepath.Join(dir, "root.txt")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo.txt"), 0o600))
	files, refused := collected(t, dir, wire.Spec{Outputs: []string{"**/*.txt"}, FilesOut: 10, FileBytes: 100})
	require.Equal(t, map[string]string{"own.txt": "own"}, files)
	reasons := map[string]string{}
	for _, r := range refused {
		reasons[r.Path] = r.Reason
	}
	const link = "is a symbolic link, not a file"
	require.Equal(t, map[string]string{"link.txt": link, "inner.txt": link, "root.txt": link, "fifo.txt": "is a FIFO, not a file"}, reasons)
}

func TestCollectKeepsLimits(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{"a": "12345", "b": "1234567", "c": "12345", "d": "", "e": ""})
	files, refused := collected(t, dir, wire.Spec{Outputs: []string{"*"}, FilesOut: 3, FileBytes: 11})
	require.Equal(t, map[string]string{"a": "12345", "c": "12345", "d": ""}, files)
	require.Equal(t, []sandbox.RefusedFile{
		{Path: "b", Reason: "has 7 bytes: 6 are left of the 11 that all files may have", Limit: true},
		{Path: "e", Reason: "more than 3 files match", Limit: true},
	}, refused)
}

func TestCollectNamesOnlySoManyRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 150 {
		require.NoError(t, os.Symlink("x", filepath.Join(dir, "link"+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10)))))
	}
	_, refused := collected(t, dir, wire.Spec{Outputs: []string{"*"}, FilesOut: 3, FileBytes: 10})
	require.Len(t, refused, 101)
	require.Equal(t, sandbox.RefusedFile{Path: ".", Reason: "50 more were refused"}, refused[100])
	require.NoError(t, os.WriteFile(filepath.Join(dir, "one"), []byte("more than 10 bytes"), 0o600))
	_, refused = collected(t, dir, wire.Spec{Outputs: []string{"*"}, FilesOut: 3, FileBytes: 10})
	require.Equal(t, sandbox.RefusedFile{Path: ".", Reason: "51 more were refused", Limit: true}, refused[100])
}

func TestRefusalsFitOneFrameHoweverLongNamesAre(t *testing.T) {
	t.Parallel()
	for name, letter := range map[string]string{"bytes that JSON escapes": "\x01", "no UTF-8": "\xff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			require.NoError(t, err)
			defer func() { require.NoError(t, root.Close()) }()
			deep := strings.Repeat(strings.Repeat(letter, 255)+"/", 40)
			require.NoError(t, root.MkdirAll(deep, 0o755))
			for i := range maxRefused {
				require.NoError(t, root.Symlink("x", fmt.Sprint(deep, "link", i)))
				require.NoError(t, root.WriteFile(fmt.Sprint(deep, "file", i), nil, 0o600))
			}
			_, refused := collected(t, dir, wire.Spec{Outputs: []string{"**/link*"}, FilesOut: 3, FileBytes: 10})
			require.Len(t, refused, maxRefused)
			require.NoError(t, wire.NewWriter(io.Discard).WriteJSON(wire.TypeEnd, wire.End{Refused: refused}))
			_, refused = collected(t, dir, wire.Spec{Outputs: []string{"**/file*"}, FilesOut: 3, FileBytes: 10})
			require.Len(t, refused, maxRefused)
			require.NoError(t, wire.NewWriter(io.Discard).WriteJSON(wire.TypeEnd, wire.End{Refused: refused}))
		})
	}
}

func TestCollectFromNoDirectoryRefuses(t *testing.T) {
	t.Parallel()
	files, refused := collected(t, filepath.Join(t.TempDir(), "gone"), wire.Spec{Outputs: []string{"*"}})
	require.Empty(t, files)
	require.Equal(t, []sandbox.RefusedFile{{Path: ".", Reason: "no such file or directory"}}, refused)
}

func TestDeepestMatch(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, deepest([]string{"*.txt"}))
	require.Equal(t, 3, deepest([]string{"a", "a/b/c"}))
	require.Equal(t, maxDepth, deepest([]string{"a", "a/**"}))
}
