package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// inFolder makes a folder with files in it the current one. Such tests cannot be parallel.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
}

func collected(t *testing.T, specs ...string) map[string]string {
	t.Helper()
	c := &collector{main: "main.py", mainPath: "main.py", left: sandbox.MiB}
	for _, spec := range specs {
		require.NoError(t, c.add(spec))
	}
	files := map[string]string{}
	for _, file := range c.files {
		files[file.Path] = string(file.Data)
	}
	return files
}

func TestFilesKeepTheirPlaceBelowTheCurrentFolder(t *testing.T) {
	inFolder(t, map[string]string{"main.py": "m", "data/a.csv": "a", "data/deep/b.csv": "b"})
	absolute, err := filepath.Abs("data/a.csv")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		specs []string
		want  map[string]string
	}{
		"a file":                        {[]string{"data/a.csv"}, map[string]string{"data/a.csv": "a"}},
		"a file elsewhere":              {[]string{absolute}, map[string]string{"a.csv": "a"}},
		"a file with a destination":     {[]string{"in.csv=data/a.csv"}, map[string]string{"in.csv": "a"}},
		"a file into a folder":          {[]string{"in/=data/a.csv"}, map[string]string{"in/a.csv": "a"}},
		"a folder":                      {[]string{"data"}, map[string]string{"data/a.csv": "a", "data/deep/b.csv": "b"}},
		"a folder with a destination":   {[]string{"in=data/"}, map[string]string{"in/a.csv": "a", "in/deep/b.csv": "b"}},
		"a folder's content at the top": {[]string{".=data"}, map[string]string{"a.csv": "a", "deep/b.csv": "b"}},
		"all, without the program":      {[]string{"."}, map[string]string{"data/a.csv": "a", "data/deep/b.csv": "b"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, collected(t, c.specs...)) })
	}
}

func TestTheExecutableBitTravels(t *testing.T) {
	inFolder(t, map[string]string{"tool": "#!/bin/sh", "data": "d"})
	require.NoError(t, os.Chmod("tool", 0o700))
	c := &collector{left: 100}
	require.NoError(t, c.add("tool"))
	require.NoError(t, c.add("data"))
	require.Equal(t, []sandbox.File{
		{Path: "tool", Data: sandbox.Bytes("#!/bin/sh"), Executable: true}, {Path: "data", Data: sandbox.Bytes("d")},
	}, c.files)
}

func TestFilesThatCannotBeSentAreRefusedByName(t *testing.T) {
	inFolder(t, map[string]string{"large": "12345", "half": "123"})
	require.NoError(t, unix.Mkfifo("pipe", 0o600))
	c := &collector{left: 4}
	require.ErrorContains(t, c.add("large"), "large")
	require.NoError(t, c.add("half"))
	require.ErrorContains(t, c.add("again=half"), "larger than a job may send", "the sizes add up")
	require.ErrorContains(t, c.add("pipe"), "neither a file nor a folder")
	require.ErrorContains(t, c.add("absent"), "absent")
	require.ErrorContains(t, c.add("dest="), "DEST=PATH")
}
