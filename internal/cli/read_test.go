package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/cli"
)

func TestReadTakesAFileOrStandardInputUpToItsLimit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("12345"), 0o600))
	for _, name := range []string{file, "-"} {
		data, err := cli.Read(t.Context(), name, strings.NewReader("12345"), 5)
		require.NoError(t, err)
		require.Equal(t, "12345", string(data))
		_, err = cli.Read(t.Context(), name, strings.NewReader("12345"), 4)
		require.ErrorIs(t, err, cli.ErrTooLarge)
		require.Equal(t, cli.ExitUsage, cli.ExitCode(err))
	}
	_, err := cli.Read(t.Context(), file+"x", nil, 5)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, cli.ExitUsage, cli.ExitCode(err))
}

func TestAReadThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = cli.Read(ctx, "-", reader, 5)
	require.Equal(t, cli.ExitInterrupted, cli.ExitCode(err))
	require.NoError(t, writer.Close())
}
