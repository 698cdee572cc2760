package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// listTree tells mode and content of all that is below dir, one line each.
func listTree(t *testing.T, dir string) (lines []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		content := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			content = " " + string(data)
		}
		if name != "." {
			lines = append(lines, info.Mode().String()+" "+name+content)
		}
		return nil
	}))
	return lines
}

func TestFilesOfATestGoOverWhatIsThere(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, made := range []string{"kept", "tree/deep/er", "closed/sub"} {
		require.NoError(t, os.MkdirAll(at(made), 0o700))
	}
	for _, made := range []string{"kept/old", "tree/deep/er/x", "file", "again", "closed/sub/x"} {
		require.NoError(t, os.WriteFile(at(made), []byte("old"), 0o600))
	}
	require.NoError(t, os.Mkdir(at("tree/\xff\n"), 0o700))
	require.NoError(t, os.Chmod(at("tree/deep/er"), 0))
	require.NoError(t, os.Chmod(at("tree/deep"), 0))
	require.NoError(t, os.Chmod(at("closed"), 0o500))
	require.NoError(t, os.Chmod(at("again"), 0))
	require.NoError(t, os.Symlink(outside, at("link")))
	require.NoError(t, os.Symlink(secret, at("filelink")))
	require.NoError(t, os.Link(at("again"), at("hard")))
	require.NoError(t, syscall.Mkfifo(at("fifo"), 0o600))

	files := []wire.FileHeader{
		{Path: "kept/new", Size: 1}, // beside what is there
		{Path: "kept/"},
		{Path: "tree", Size: 1},                    // over a directory that cannot be read
		{Path: "file/in/it", Size: 1},              // a file in the way
		{Path: "again", Size: 1, Executable: true}, // over a file, not into it
		{Path: "closed/sub", Size: 1},              // in a directory that cannot be written
		{Path: "link/secret", Size: 1},             // not through a link
		{Path: "filelink", Size: 1},                // nor into one
		{Path: "fifo/"},                            // an empty folder over something
		{Path: "a/b/"},
		{Path: "a/b/c/d/e", Size: 3}, // and new ones
	}
	require.NoError(t, overlayFiles(dir, files, strings.NewReader("1234567\x00\xff\n")))
	require.Equal(t, []string{
		"drwxr-xr-x a", "drwxr-xr-x a/b", "drwxr-xr-x a/b/c", "drwxr-xr-x a/b/c/d", "-rw-r--r-- a/b/c/d/e \x00\xff\n",
		"-rwxr-xr-x again 4",
		"drwx------ closed", "-rw-r--r-- closed/sub 5",
		"drwxr-xr-x fifo",
		"drwxr-xr-x file", "drwxr-xr-x file/in", "-rw-r--r-- file/in/it 3",
		"-rw-r--r-- filelink 7",
		"---------- hard old",
		"drwx------ kept", "-rw-r--r-- kept/new 1", "-rw------- kept/old old",
		"drwxr-xr-x link", "-rw-r--r-- link/secret 6",
		"-rw-r--r-- tree 2",
	}, listTree(t, dir))
	left, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "secret", string(left))
}

func TestFilesOfATestStayInsideTheWorkspace(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for _, path := range []string{"../x", "../x/", "/x", "a/../../x", "a/../../x/y", ".", "..", "../"} {
		dir := filepath.Join(outside, "inside")
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.Error(t, overlayFiles(dir, []wire.FileHeader{{Path: path}}, nil), path)
		require.NoError(t, os.RemoveAll(dir))
	}
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}
