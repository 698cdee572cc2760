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

	"github.com/sandloop/sandloop/internal/cli"
)

func main() {
	ctx := cli.UntilSignal()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	report(os.Stderr, err)
	os.Exit(exitCode(err))
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
