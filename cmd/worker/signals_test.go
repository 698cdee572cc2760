package main

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/cli"
)

func TestTheFirstSignalStopsAndTheSecondEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal)
		exited := make(chan int, 1)
		var stderr output
		ctx := stopOnSignal(t.Context(), signals, &stderr, func(code int) { exited <- code })
		require.NoError(t, ctx.Err())
		signals <- syscall.SIGTERM
		<-ctx.Done()
		require.ErrorIs(t, context.Cause(ctx), errStopped)
		signals <- syscall.SIGTERM // as timeout(1) sends it, twice at once
		synctest.Wait()
		require.Empty(t, exited)
		time.Sleep(cli.SignalEcho)
		signals <- os.Interrupt
		synctest.Wait()
		require.Len(t, exited, 1, "the second signal did not end the process")
		require.Equal(t, 1, <-exited)
		require.Contains(t, stderr.String(), "interrupt again")
	})
}
