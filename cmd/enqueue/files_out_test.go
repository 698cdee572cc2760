package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestFilesComeBackBelowTheFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	out := outFlags{dir: dir}
	require.NoError(t, out.write([]sandbox.File{
		{Path: "a.txt", Data: sandbox.Bytes("a")},
		{Path: "deep/er/run.sh", Data: sandbox.Bytes("\xff\x00"), Executable: true},
	}, []string{"**"}))
	requireFile(t, filepath.Join(dir, "a.txt"), "a", 0o644)
	requireFile(t, filepath.Join(dir, "deep/er/run.sh"), "\xff\x00", 0o755)
	left, err := filepath.Glob(filepath.Join(dir, ".sandloop*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func requireFile(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, content, string(data))
	info, err := os.Lstat(name)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode(), "neither a link nor another mode")
}

func TestOnlyAFileThatWasNamedReplacesOne(t *testing.T) {
	t.Parallel()
	files := []sandbox.File{{Path: "Makefile", Data: sandbox.Bytes("new")}, {Path: ".git/hooks/pre-commit", Data: sandbox.Bytes("evil"), Executable: true}}
	for name, c := range map[string]struct {
		patterns []string
		force    bool
		want     string
		refused  bool
	}{
		"by its name":   {[]string{"Makefile", ".git/hooks/pre-commit"}, false, "new", false},
		"by a wildcard": {[]string{"**"}, false, "old", true},
		"forced":        {[]string{"**"}, true, "new", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte("old"), 0o644))
			out := outFlags{dir: dir, force: c.force}
			err := out.write(files, c.patterns)
			requireFile(t, filepath.Join(dir, "Makefile"), c.want, 0o644)
			if !c.refused {
				require.NoError(t, err)
				requireFile(t, filepath.Join(dir, ".git/hooks/pre-commit"), "evil", 0o755)
				return
			}
			require.ErrorContains(t, err, `"Makefile" is not written: it exists`)
			require.ErrorContains(t, err, `".git/hooks/pre-commit" is not written: its name is hidden`)
			require.NoFileExists(t, filepath.Join(dir, ".git/hooks/pre-commit"))
		})
	}
}
