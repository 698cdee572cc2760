package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestHostileNamesStayBelowTheFolder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../up", "/abs", "a/../../up", "..", ".", "", "./a", "a//b", "a/", "a\x00b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			out := cli.Folder{Path: filepath.Join(parent, "dir"), Flag: "--out", Force: true}
			require.Error(t, out.Write([]sandbox.File{{Path: name, Data: sandbox.Bytes("x")}}, nil))
			entries, err := os.ReadDir(parent)
			require.NoError(t, err)
			require.Len(t, entries, 1)
			entries, err = os.ReadDir(out.Path)
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
}

func TestALinkIsNeitherFollowedNorWrittenThrough(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(victim, filepath.Join(dir, "file")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "folder")))
	out := cli.Folder{Path: dir, Flag: "--out", Force: true}
	err := out.Write([]sandbox.File{
		{Path: "file", Data: sandbox.Bytes("new")},
		{Path: "folder/victim", Data: sandbox.Bytes("evil")},
	}, nil)
	require.ErrorContains(t, err, `"folder/victim" is not written`)
	require.NotContains(t, err.Error(), `"file"`)
	requireContent(t, victim, "mine")
	requireContent(t, filepath.Join(dir, "file"), "new")
}

func TestWithoutForceNothingIsReplacedOrHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600))
	out := cli.Folder{Path: dir, Flag: "--out"}
	err := out.Write([]sandbox.File{{Path: "old"}, {Path: ".profile"}, {Path: "new", Data: sandbox.Bytes("new")}}, nil)
	require.EqualError(t, err, `"old" is not written: it exists (--force replaces it)`+"\n"+
		`".profile" is not written: its name is hidden (--force writes it)`)
	requireContent(t, filepath.Join(dir, "old"), "old")
	requireContent(t, filepath.Join(dir, "new"), "new")
}

func TestAFolderThatIsAFileIsRefusedBeforehand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	out := cli.Folder{Path: file, Flag: "--out"}
	require.EqualError(t, out.Check(), "--out "+file+": is not a folder")
	require.Equal(t, cli.ExitUsage, cli.ExitCode(out.Check()))
	require.Error(t, out.Write([]sandbox.File{{Path: "a"}}, nil))
}

// requireContent also makes sure that the name is no link.
func requireContent(t *testing.T, name, content string) {
	t.Helper()
	info, err := os.Lstat(name)
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular(), info.Mode())
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, content, string(data))
}
