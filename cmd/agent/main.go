// Command agent gives a language model a task and a sandbox to work in, and shows what it does.
//
// Its one invariant: the keys of providers come from the environment, go to the provider alone and are
// nowhere else: not in output, transcripts, jobs or errors.
//
// It may import config and everything of ours but what runs or removes containers, and never the Docker SDK.
package main

import (
	"context"
	"io"
	"os"

	"github.com/sandloop/sandloop/internal/cli"
)

func main() {
	ctx := cli.UntilSignal()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	cli.Report(os.Stderr, programName, err)
	os.Exit(cli.ExitCode(err))
}

// run executes one command line. cli.ExitCode tells the exit code of its error.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	a := &app{getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRootCommand(a) //nolint:contextcheck // commands get ctx from ExecuteContext
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.parsed {
		return cli.UsageError(err)
	}
	return err
}
