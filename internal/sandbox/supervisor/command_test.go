package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestImageEnvLosesWhatDockerAdds(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"PATH=/bin", "LANG=C.UTF-8", "HOME=/tmp"},
		imageEnv([]string{"PATH=/bin", "HOSTNAME=abc", "HOME=/root", "LANG=C.UTF-8"}))
}

func TestMergeEnvLaterWins(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"A=3", "B=", "C=x=y"}, mergeEnv([]string{"A=1", "B=2"}, []string{"A=3", "B=", "C=x=y"}))
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"first/data": 0o644, "second/data": 0o755, "first/tool": 0o755, "second/tool": 0o755, "first/plain": 0o644} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, mode))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "first", "folder"), 0o755))
	env := []string{"PATH=" + dir + "/none:first:" + dir + "/second"}
	for name, want := range map[string]string{
		"tool": dir + "/first/tool", "data": dir + "/second/data", "./anything": "./anything", "/abs": "/abs",
	} {
		got, err := lookPath(name, dir, env)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := lookPath("plain", dir, env)
	require.EqualError(t, err, "plain: permission denied")
	for _, name := range []string{"folder", "missing"} {
		_, err = lookPath(name, dir, env)
		require.ErrorContains(t, err, name+": not found in PATH")
	}
	_, err = lookPath("tool", dir, nil)
	require.ErrorContains(t, err, `not found in PATH ""`)
}

func TestOnlyProcess1Kills(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, killOthers(), errNotInit)
	require.ErrorIs(t, Run(nil, nil, 1), errNotInit)
}
