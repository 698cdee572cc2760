package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sandloop/sandloop/internal/cli"
)

// errStopped is the cause with which a signal ends the context.
var errStopped = errors.New("told to stop")

// stopOnSignal returns a context that the first signal ends. The second ends the process,
// whose containers then end by themselves, since their standard input closes.
func stopOnSignal(parent context.Context, signals <-chan os.Signal, stderr io.Writer, exit func(int)) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		first := <-signals
		cancel(fmt.Errorf("%w by signal: %s", errStopped, first))
		echo := time.Now().Add(cli.SignalEcho)
		second := <-signals
		for time.Now().Before(echo) {
			second = <-signals
		}
		_, _ = fmt.Fprintf(stderr, "worker: %s again: ending at once; the jobs run again elsewhere\n", second)
		exit(exitFailed)
	}()
	return ctx
}
