// Command enqueue is the producer: it puts programs on the queue, follows them and
// collects their results.
//
// Its one invariant: a program's standard output is this command's standard output, byte
// for byte, and everything that enqueue itself has to say goes to standard error.
//
// It may import config, internal/jobs and internal/sandbox, and never the Docker SDK.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sandloop/sandloop/internal/cli"
)

func main() {
	// A reader that went away (enqueue run … | head) is then a write error, which cancels the job.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { // so a second Ctrl-C ends the process at once
		time.Sleep(cli.SignalEcho)
		stop()
	})
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	report(os.Stderr, err)
	os.Exit(exitCode(err)) //nolint:gocritic // nothing is deferred
}

// run executes one command line. exitCode tells the exit code of its error.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRootCommand(a) //nolint:contextcheck // commands get ctx from ExecuteContext
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.parsed {
		return usageError(err)
	}
	return err
}
