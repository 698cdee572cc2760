package workspace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAJobFindsWhatTheOneBeforeItLeft(t *testing.T) {
	everywhere(t, func(t *testing.T, b *bundle) {
		first := b.acquire("1")
		files, err := first.Files(b.ctx)
		require.NoError(t, err)
		require.Empty(t, files)
		require.Zero(t, first.Head.Version)
		tool := file("bin/tool", "#!/bin/sh")
		tool.Executable = true
		b.commit(first, file("b.txt", "two"), tool, file("a.txt", "one"))
		require.EqualValues(t, 1, first.Head.Version)
		require.NoError(t, first.Release(b.ctx))

		second := b.acquire("2")
		require.Greater(t, second.Fence(), first.Fence())
		require.EqualValues(t, 1, second.Head.Version)
		require.Equal(t, 3, second.Head.Files)
		require.EqualValues(t, 3+3+9, second.Head.Bytes)
		files, err = second.Files(b.ctx)
		require.NoError(t, err)
		require.Equal(t, "a.txt", files[0].Path)
		require.Equal(t, tool, files[2])
		b.commit(second)
		require.EqualValues(t, 2, second.Head.Version)
		require.NoError(t, second.Release(b.ctx))
		b.holds()
	})
}
