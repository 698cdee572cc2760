package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// SignalEcho is how long after a signal the next one counts as the same: timeout(1) sends its
// signal to the process and at once again to the whole group.
const SignalEcho = 100 * time.Millisecond

// UntilSignal returns a context that Ctrl-C or SIGTERM ends; a second one ends the process at once. It
// also turns SIGPIPE into an error of the write, so that a reader that went away (enqueue run … | head)
// ends a command in order.
func UntilSignal() context.Context {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(SignalEcho, stop) })
	return ctx
}
