package submissions_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/submissions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is an entry of an archive or folder. A name that ends in a slash is a folder.
type file struct{ name, text string }

func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func zipOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, one := range files {
		w, err := archive.Create(one.name)
		require.NoError(t, err)
		_, err = w.Write([]byte(one.text))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	return out.Bytes()
}

func tarOf(t testing.TB, headers []tar.Header, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, header := range headers {
		require.NoError(t, archive.WriteHeader(&header))
	}
	for _, one := range files {
		header := &tar.Header{Name: one.name, Size: int64(len(one.text)), Mode: 0o644, Typeflag: tar.TypeReg}
		if one.name[len(one.name)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		require.NoError(t, archive.WriteHeader(header))
		_, err := archive.Write([]byte(one.text))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	return out.Bytes()
}

func gzipOf(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	_, err := packed.Write(content)
	require.NoError(t, err)
	require.NoError(t, packed.Close())
	return out.Bytes()
}

func folderOf(t testing.TB, files ...file) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, one := range files {
		path := filepath.Join(dir, one.name)
		if one.name[len(one.name)-1] == '/' {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(one.text), 0o600))
	}
	return dir
}

// handedIn lists what paths hold, twice, and checks that both times are the same.
func handedIn(t testing.TB, o submissions.Options, paths ...string) []submissions.Submission {
	t.Helper()
	set, err := submissions.Open(paths, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, set.Close()) }()
	read := func() (all []submissions.Submission) {
		for one, err := range set.All() {
			require.NoError(t, err)
			all = append(all, one)
		}
		return all
	}
	first := read()
	require.Equal(t, first, read())
	require.Len(t, first, set.Len())
	return first
}

func openError(t testing.TB, paths ...string) string {
	t.Helper()
	set, err := submissions.Open(paths, submissions.Options{})
	if err == nil {
		require.NoError(t, set.Close())
	}
	require.Error(t, err)
	return err.Error()
}

// lines tells each submission in one line: group, id, files with their content, problem.
func lines(all []submissions.Submission) []string {
	told := []string{}
	for _, one := range all {
		line := one.ID + ":"
		if one.Group != "" {
			line = "[" + one.Group + "] " + line
		}
		for _, file := range one.Files {
			line += " " + file.Path + "=" + string(file.Data)
		}
		if one.Problem != "" {
			line += " PROBLEM " + one.Problem
		}
		told = append(told, line)
	}
	return told
}
