// Command worker takes jobs from the queue and runs them in throwaway containers.
//
// Its one invariant: it takes no job before it has proved that it can run one, and it ends
// without leaving a container behind.
//
// It may import everything of ours; it is where queue, Docker and reaper meet.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx := stopOnSignal(context.Background(), signals, os.Stderr, os.Exit)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	report(os.Stderr, err)
	os.Exit(exitCode(err))
}

// run executes one command line until it is done or ctx ends. exitCode tells the exit code of its error.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	a := &app{stdout: stdout, stderr: stderr}
	root := newRootCommand(a) //nolint:contextcheck // cobra hands ctx to the commands
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.parsed {
		return &usageError{err}
	}
	return err
}
