package lines

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/batch"
)

func TestTheExamplesAreRightAndSayWhatTheyDeserve(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../../examples/batch/*.jsonl")
	require.NoError(t, err)
	require.Len(t, names, 3)
	for _, name := range names {
		file, err := os.Open(name)
		require.NoError(t, err)
		_, err = settings(t).Check(t.Context(), file, func(_ int, entry batch.Entry) error {
			require.NotEmpty(t, entry.Expected, entry.ID)
			return nil
		})
		require.NoError(t, err, name)
		require.NoError(t, file.Close())
	}
}
