package submissions_test

import (
	"archive/tar"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/submissions"
)

// FuzzArchive reads any bytes as each kind of archive: what comes out is bounded, and of files that a sandbox can take.
func FuzzArchive(f *testing.F) {
	tarball := tarOf(f, []tar.Header{{Name: "alice/link.py", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, {Name: "n", Typeflag: tar.TypeChar}},
		file{"alice/main.py", "print(1)"}, file{"bob/", ""}, file{"bob/a/b.c", "int"}, file{"../up.py", "x"}, file{"carol.py", "c"})
	f.Add(tarball, true)
	f.Add(gzipOf(f, tarball), false)
	f.Add(zipOf(f, file{"alice/main.py", "print(1)"}, file{"bob/", ""}, file{"/etc/passwd", "x"}, file{"carol.py", "c"}, file{"a\x00\x1b.py", "c"}), true)
	f.Add(gzipOf(f, make([]byte, 1<<20)), true)
	const limit = 1 << 16
	dir := f.TempDir() // one file with three names, since most of the time went into making files
	paths := []string{filepath.Join(dir, "x.zip"), filepath.Join(dir, "x.tar"), filepath.Join(dir, "x.tar.gz")}
	require.NoError(f, os.WriteFile(paths[0], nil, 0o600))
	require.NoError(f, errors.Join(os.Link(paths[0], paths[1]), os.Link(paths[0], paths[2])))
	f.Fuzz(func(t *testing.T, data []byte, grouped bool) {
		require.NoError(t, os.WriteFile(paths[0], data, 0o600))
		for _, path := range paths {
			set, err := submissions.Open([]string{path}, submissions.Options{MaxBytes: limit, GroupByFolder: grouped})
			if err != nil {
				continue
			}
			for submission, err := range set.All() {
				if err != nil {
					break
				}
				require.True(t, utf8.ValidString(submission.ID), "%q", submission.ID)
				require.NotEmpty(t, submission.ID)
				if submission.Problem != "" {
					continue
				}
				size := 0
				for _, file := range submission.Files {
					size += len(file.Data)
				}
				require.LessOrEqual(t, size, limit)
				if path := submission.Files[0].Path; len(submission.Files) == 1 && !utf8.ValidString(path) {
					require.NotContains(t, path, "/")
					submission.Files[0].Path = "main.py" // as grading names a file by itself whose name is no plain one
				}
				require.NoError(t, sandbox.CheckFiles(submission.Files))
			}
			require.NoError(t, set.Close())
		}
	})
}
