package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
)

func TestEachReadsTheKeysThatItNeedsAndNoOthers(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("0123456789abcdef0123456789abcdef\n"), 0o600))
	const absent = "/nowhere/key"
	of := func(sign, verify, seal string) config.Jobs {
		return config.Jobs{SignKeyFile: sign, VerifyKeyFile: verify, SealKeyFile: seal}
	}
	keys, err := cli.ProducerKeys(of(key, absent, key))
	require.NoError(t, err)
	require.Equal(t, []string{"f0faee4d"}, keys.Sign.IDs())
	require.Equal(t, []string{"f0faee4d"}, keys.Seal.IDs())
	require.Nil(t, keys.Verify)
	keys, err = cli.WorkerKeys(of(absent, key, ""))
	require.NoError(t, err)
	require.Equal(t, []string{"f0faee4d"}, keys.Verify.IDs())
	require.Nil(t, keys.Seal)
	require.Nil(t, keys.Sign)

	_, err = cli.ProducerKeys(of(absent, "", absent))
	require.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	require.ErrorContains(t, err, "jobs.sign_key_file: open /nowhere/key")
	require.ErrorContains(t, err, "jobs.seal_key_file: open /nowhere/key")
	require.NoError(t, os.Chmod(key, 0o644))
	_, err = cli.WorkerKeys(of("", key, ""))
	require.ErrorContains(t, err, "jobs.verify_key_file: "+key+" has the mode 0644: want 0600")
}
