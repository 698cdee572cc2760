package seal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileOfKeysIsReadLineByLine(t *testing.T) {
	t.Parallel()
	k := keys(t, "# the new one", "", "  "+second+"\r", first)
	require.Equal(t, []string{keys(t, second).IDs()[0], "f0faee4d"}, k.IDs())
	require.Nil(t, (*Keys)(nil).IDs())
}

func TestFilesOfKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, want string }{
		"empty":         {"", "holds no key"},
		"comments only": {"# none\n\n", "holds no key"},
		"short":         {first + "\n" + first[:31], "the key in line 2 is 31 bytes: want at least 32"},
		"twice":         {first + "\n" + first, "the key in line 2 is there twice"},
	} {
		_, err := ParseKeys([]byte(c.content))
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), first[:31], "no error shows a key")
	}
}

func TestWhoMayReadAFileOfKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, []byte(first), 0o600))
	for _, mode := range []os.FileMode{0o600, 0o400, 0o440, 0o640} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := ReadKeys(path)
		require.NoError(t, err, mode)
	}
	for _, mode := range []os.FileMode{0o644, 0o604, 0o660, 0o601} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := ReadKeys(path)
		require.ErrorContains(t, err, "want 0600", mode)
	}
}

func TestASettingNamesAFileOfKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, err := ReadOptional("jobs.sign_key_file", "")
	require.NoError(t, err)
	require.Nil(t, none)
	_, err = ReadOptional("jobs.sign_key_file", filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "jobs.sign_key_file: open ")
	require.ErrorContains(t, err, "openssl rand -base64 48")
	_, err = ReadOptional("jobs.sign_key_file", dir)
	require.ErrorContains(t, err, "is no plain file")
	large := filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(large, []byte(strings.Repeat("#\n", 1<<15)+"#"), 0o600))
	_, err = ReadOptional("jobs.sign_key_file", large)
	require.ErrorContains(t, err, "want at most 65536 bytes")
}
