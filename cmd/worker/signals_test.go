package main

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheFirstSignalStopsAndTheSecondEnds(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal)
	exited := make(chan int, 1)
	var stderr output
	ctx := stopOnSignal(t.Context(), signals, &stderr, func(code int) { exited <- code })
	require.NoError(t, ctx.Err())
	signals <- syscall.SIGTERM
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), errStopped)
	require.Empty(t, exited)
	signals <- os.Interrupt
	select {
	case code := <-exited:
		require.Equal(t, 1, code)
	case <-time.After(patience):
		require.Fail(t, "the second signal did not end the process")
	}
	require.Contains(t, stderr.String(), "interrupt again")
}
