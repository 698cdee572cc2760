package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// setupStore makes a bench with a store that stands for the workers.
func setupStore(t *testing.T) (*bench, *workspace.Store) {
	t.Helper()
	b := setupWithoutWorker(t)
	rdb := redis.NewClient(&redis.Options{Addr: b.redis})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return b, workspace.New(rdb, workspace.Options{})
}

// keep has a session hold files as a job would leave them.
func keep(t *testing.T, store *workspace.Store, session workspace.Session, files ...sandbox.File) {
	t.Helper()
	_, err := store.Write(t.Context(), session, files, nil, patience)
	require.NoError(t, err)
}

func textFile(path, content string) sandbox.File {
	return sandbox.File{Path: path, Data: sandbox.Bytes(content)}
}

func TestFilesGoIntoASessionAndComeOut(t *testing.T) {
	t.Parallel()
	b, _ := setupStore(t)
	tool := b.file(t, "tool", "#!/bin/sh")
	require.NoError(t, os.Chmod(tool, 0o700))
	b.file(t, "folder/sub/a", "A")
	b.file(t, "folder/b", "B")
	got := b.enqueueWith(t.Context(), t, "from stdin\x00", "session", "write", "s", tool, "in="+filepath.Join(b.dir, "folder"), "std/in=-")
	require.Equal(t, ran{"", "enqueue: session s has 4 files of 22 bytes, version 1\n", 0}, got)
	got = b.enqueue(t, "session", "files", "s")
	require.Equal(t, ran{"SIZE      MODE  PATH\n1 bytes   644   in/b\n1 bytes   644   in/sub/a\n11 bytes  644   std/in\n9 bytes   755   tool\n", "", 0}, got)
	require.Equal(t, ran{"from stdin\x00", "", 0}, b.enqueue(t, "session", "read", "s", "std/in"))
	require.Equal(t, ran{`{"path":"tool","data":"#!/bin/sh","executable":true}` + "\n", "", 0}, b.enqueue(t, "session", "read", "s", "tool", "--json"))
	lines := strings.Split(b.enqueue(t, "session", "files", "s", "--json").stdout, "\n")
	require.Len(t, lines, 5)
	require.Equal(t, listedFile{Path: "tool", Bytes: 9, Executable: true}, decode[listedFile](t, lines[3]))

	got = b.enqueue(t, "session", "delete", "s", "in", "tool", "--json")
	require.Zero(t, got.code)
	require.EqualValues(t, 2, decode[workspace.Head](t, got.stdout).Version)
	require.Equal(t, ran{"SIZE      MODE  PATH\n11 bytes  644   std/in\n", "", 0}, b.enqueue(t, "session", "files", "s"))
	require.Equal(t, ran{"", "", 0}, b.enqueue(t, "session", "delete", "s"))
	got = b.enqueue(t, "session", "files", "s")
	require.Equal(t, ran{"", "enqueue: session \"s\": no such session: it never was, expired, or is of another --tenant\n", 125}, got)
	require.Equal(t, 125, b.enqueue(t, "session", "delete", "s", "x").code, "deleting a file makes no session")
}

func TestSessionsAreListedForTheirTenantAlone(t *testing.T) {
	t.Parallel()
	b, store := setupStore(t)
	require.Equal(t, ran{"", "enqueue: there are no sessions\n", 0}, b.enqueue(t, "session", "list"))
	keep(t, store, workspace.Session{Name: "ours"}, textFile("a", strings.Repeat("x", 2048)))
	session := workspace.Session{Tenant: "alice", Name: "hers"}
	keep(t, store, session, textFile("a", "x"))
	lease, err := store.Acquire(t.Context(), session, "worker-7", "job-1")
	require.NoError(t, err)
	require.NoError(t, lease.Hold(t.Context(), workspace.Holder{Worker: "worker-7", Language: "python", Nonce: "n"}))

	got := b.enqueue(t, "session", "list")
	require.Zero(t, got.code)
	require.Regexp(t, `^SESSION +VERSION +FILES +SIZE +USED +EXPIRES +STATE\nours +1 +1 +2KiB +\S+ +\S+ +idle\n$`, got.stdout)
	got = b.enqueue(t, "session", "list", "--tenant", "alice", "--json")
	head := decode[workspace.Head](t, got.stdout)
	require.Equal(t, "hers", head.Name)
	require.Equal(t, &workspace.User{Owner: "worker-7", Job: "job-1"}, head.Busy)
	require.Regexp(t, `hers .* runs job-1, python lives\n$`, b.enqueue(t, "session", "list", "--tenant", "alice").stdout)
	got = b.enqueue(t, "session", "show", "hers", "--tenant", "alice")
	for _, row := range []string{`session +hers\n`, `tenant +alice\n`, `version +1\n`, `files +1\n`, `size +1 bytes, \d+ bytes as stored\n`, `in use +by job job-1 on worker-7\n`, `live +python on worker worker-7 since `} {
		require.Regexp(t, row, got.stdout)
	}
	require.NoError(t, store.LetGo(t.Context(), session, "n", "nobody called it"))
	require.Regexp(t, `live ended +nobody called it\n`, b.enqueue(t, "session", "show", "hers", "--tenant", "alice").stdout)
	require.Equal(t, 125, b.enqueue(t, "session", "show", "hers").code, "it is of another tenant")
	require.NoError(t, lease.Release(t.Context()))
}

func TestASessionThatAJobHasIsNotWritten(t *testing.T) {
	t.Parallel()
	b, store := setupStore(t)
	lease, err := store.Acquire(t.Context(), workspace.Session{Name: "s"}, "worker-7", "job-1")
	require.NoError(t, err)
	got := b.enqueueWith(t.Context(), t, "x", "session", "write", "s", "a=-", "--wait", "10ms")
	require.Equal(t, ran{"", "enqueue: session \"s\" has job job-1 on worker-7: the session is in use: try again, or wait longer with --wait\n", 125}, got)
	require.Zero(t, b.enqueue(t, "session", "delete", "s").code, "a whole session is deleted at once")
	require.ErrorIs(t, lease.Commit(t.Context(), workspace.Commit{Unchanged: true}), workspace.ErrFenced)
}

func TestWhatASessionCommandRefuses(t *testing.T) {
	t.Parallel()
	b, store := setupStore(t)
	keep(t, store, workspace.Session{Name: "s"}, textFile("a", "x"))
	large := b.file(t, "large", strings.Repeat("x", 5000))
	small := filepath.Join(t.TempDir(), "small.yaml")
	require.NoError(t, os.WriteFile(small, []byte("sessions: {quota: 4KiB, max_files: 2}"), 0o600))
	for name, test := range map[string]struct {
		args []string
		want string
		code int
	}{
		"no name":             {[]string{"show"}, "want the name of one session", 2},
		"two names":           {[]string{"show", "a", "b"}, "want the name of one session", 2},
		"a bad name":          {[]string{"show", "a/b"}, "want up to 64 letters", 2},
		"a bad name to write": {[]string{"write", "a b", large}, "want up to 64 letters", 2},
		"nothing to write":    {[]string{"write", "s"}, "files to put into it", 2},
		"stdin has no name":   {[]string{"write", "s", "-"}, "want DEST=-", 2},
		"no place":            {[]string{"write", "s", "=-"}, "is empty", 2},
		"a place outside":     {[]string{"write", "s", "../x=-"}, "not a clean relative path", 2},
		"a file in a file":    {[]string{"write", "s", "a/b=-"}, `"a" is a file`, 2},
		"no such local file":  {[]string{"write", "s", filepath.Join(b.dir, "absent")}, "PATH: stat", 2},
		"no such file":        {[]string{"read", "s", "b"}, `session "s": "b": file does not exist`, 125},
		"no such session":     {[]string{"export", "t", "-o", filepath.Join(b.dir, "x.zip")}, "no such session", 125},
		"no target":           {[]string{"export", "s"}, "--output: is empty", 2},
		"another archive":     {[]string{"export", "s", "-o", filepath.Join(b.dir, "x.tar")}, `x.tar" looks like an archive of another kind`, 2},
		"a file for a folder": {[]string{"export", "s", "-o", large}, "is not a folder", 2},
		"a bad wait":          {[]string{"delete", "s", "a", "--wait", "never"}, "want a time above 0", 2},
		"above the quota":     {[]string{"write", "s", large, "--config", small}, "larger than a session may hold", 2},
		"stdin above it":      {[]string{"write", "s", "b=-", "--config", small}, "larger than a session may hold", 2},
		"too many":            {[]string{"write", "s", "x=" + small, "y=" + small, "--config", small}, "would hold 3 files: want at most 2", 2},
	} {
		stdin := strings.Repeat("y", 4097)
		got := b.enqueueWith(t.Context(), t, stdin, append([]string{"session"}, test.args...)...)
		require.Equal(t, test.code, got.code, "%s: %s", name, got.stderr)
		require.Contains(t, got.stderr, test.want, name)
		require.Empty(t, got.stdout, name)
	}
	require.Equal(t, "x", b.enqueue(t, "session", "read", "s", "a").stdout)
	require.NoFileExists(t, filepath.Join(b.dir, "x.zip"))
}

func TestRedisThatDoesNotAnswerIsOurFailure(t *testing.T) {
	t.Parallel()
	b := &bench{redis: "127.0.0.1:1"}
	got := b.enqueue(t, "session", "list")
	require.Equal(t, 125, got.code)
	require.Contains(t, got.stderr, "connect to Redis")
}

func TestNamesFromASandboxAreShownInQuotes(t *testing.T) {
	t.Parallel()
	b, store := setupStore(t)
	keep(t, store, workspace.Session{Name: "s"}, textFile("\x1b[31mred\nSIZE", ""), textFile("\u202etxt.exe", ""), textFile("plain ü", ""))
	got := b.enqueue(t, "session", "files", "s")
	require.Equal(t, "SIZE  MODE  PATH\n0     644   \"\\x1b[31mred\\nSIZE\"\n0     644   plain ü\n0     644   \"\\u202etxt.exe\"\n", got.stdout)
}

func TestASessionIsExportedIntoAnArchive(t *testing.T) {
	t.Parallel()
	b, store := setupStore(t)
	tool := textFile("bin/tool", "#!/bin/sh")
	tool.Executable = true
	keep(t, store, workspace.Session{Name: "s"}, tool, textFile(".hidden", "h"))
	want := map[string]string{".hidden": "-rw-r--r-- h", "bin/tool": "-rwxr-xr-x #!/bin/sh"}
	for _, name := range []string{"out.tar.gz", "out.tgz", "out.zip"} {
		target := b.file(t, name, "an older one")
		got := b.enqueue(t, "session", "export", "s", "-o", target)
		require.Equal(t, ran{"", "enqueue: 2 files of session s are in " + target + "\n", 0}, got)
		require.Equal(t, want, contentOf(t, target), name)
	}
	got := b.enqueue(t, "session", "export", "s", "-o", "-")
	require.Zero(t, got.code)
	require.Equal(t, want, contentOf(t, b.file(t, "stdout.tar.gz", got.stdout)))

	keep(t, store, workspace.Session{Name: "w"}, textFile(`..\..\x`, ""))
	target := filepath.Join(b.dir, "w.zip")
	got = b.enqueue(t, "session", "export", "w", "-o", target)
	require.Equal(t, 125, got.code)
	require.Contains(t, got.stderr, "has a backslash")
	require.NoFileExists(t, target, "nobody sees half an archive")
	require.Zero(t, b.enqueue(t, "session", "export", "w", "-o", filepath.Join(b.dir, "w.tgz")).code)
}

// contentOf reads an archive: mode and content by name.
func contentOf(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	content := map[string]string{}
	if strings.HasSuffix(name, ".zip") {
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, entry := range archive.File {
			reader, err := entry.Open()
			require.NoError(t, err)
			text, err := io.ReadAll(reader)
			require.NoError(t, err)
			content[entry.Name] = entry.Mode().String() + " " + string(text)
		}
		return content
	}
	plain, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	archive := tar.NewReader(plain)
	for {
		header, err := archive.Next()
		if err == io.EOF { //nolint:errorlint // as archive/tar has it
			return content
		}
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), header.ModTime, time.Minute)
		content[header.Name] = header.FileInfo().Mode().String() + " " + string(text)
	}
}

func TestASessionIsExportedIntoAFolderWithoutHarm(t *testing.T) {
	t.Parallel()
	b, store := setupStore(t)
	keep(t, store, workspace.Session{Name: "s"}, textFile(".bashrc", "evil"), textFile("a", "new"), textFile("dir/b", "B"), textFile("link/c", "C"))
	fresh := filepath.Join(b.dir, "fresh")
	require.Zero(t, b.enqueue(t, "session", "export", "s", "-o", fresh).code)
	for name, want := range map[string]string{".bashrc": "evil", "a": "new", "dir/b": "B", "link/c": "C"} {
		got, err := os.ReadFile(filepath.Join(fresh, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}

	outside := t.TempDir()
	home := filepath.Join(b.dir, "home")
	b.file(t, "home/a", "old")
	require.NoError(t, os.Symlink(outside, filepath.Join(home, "link")))
	got := b.enqueue(t, "session", "export", "s", "-o", home)
	require.Equal(t, 125, got.code)
	for _, want := range []string{`".bashrc" is not written: its name is hidden`, `"a" is not written: it exists`, `"link/c" is not written`} {
		require.Contains(t, got.stderr, want)
	}
	require.NoFileExists(t, filepath.Join(home, ".bashrc"))
	old, err := os.ReadFile(filepath.Join(home, "a"))
	require.NoError(t, err)
	require.Equal(t, "old", string(old))
	require.FileExists(t, filepath.Join(home, "dir/b"), "the others are written")

	got = b.enqueue(t, "session", "export", "s", "-o", home, "--force")
	require.Contains(t, got.stderr, `"link/c" is not written`, "no force leaves the folder")
	require.NoFileExists(t, filepath.Join(outside, "c"))
	require.FileExists(t, filepath.Join(home, ".bashrc"))
}
