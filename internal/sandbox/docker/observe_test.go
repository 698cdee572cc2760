package docker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestEachStartOfAContainerIsTold(t *testing.T) {
	t.Parallel()
	told := make(chan Start, 100)
	b := setup(t, func(o *Options) { o.OnStart = func(s Start) { told <- s } })
	require.Empty(t, told, "the container that fills the volume is none for programs")
	found, err := b.images.resolve(t.Context(), testenv.Image(t))
	require.NoError(t, err)
	s := shapeOf(found.id, b.options.Defaults, false)

	began := time.Now()
	warm, err := b.startShape(t.Context(), s)
	took := time.Since(began)
	require.NoError(t, err)
	require.NoError(t, b.remove(t.Context(), warm))
	start := <-told
	require.True(t, start.Warm)
	require.NoError(t, start.Err)
	require.Positive(t, start.Took)
	require.LessOrEqual(t, start.Took, took)

	require.Equal(t, sandbox.OutcomeOK, b.run(t, bash("true")).Outcome)
	start = <-told
	require.False(t, start.Warm, "a job waited for it")
	require.NoError(t, start.Err)

	absent := b.specOf(s)
	absent.ImageID = "sha256:" + strings.Repeat("0", 64)
	_, err = b.startObserved(t.Context(), absent, s, true)
	require.Error(t, err)
	require.Equal(t, err, (<-told).Err)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.startObserved(gone, absent, s, true)
	require.Error(t, err)
	require.Empty(t, told, "nobody wanted that one")
}
