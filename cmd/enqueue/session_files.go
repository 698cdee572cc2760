package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// listedFile is a file as files --json tells of it.
type listedFile struct {
	Path       string `json:"path"`
	Bytes      int    `json:"bytes"`
	Executable bool   `json:"executable,omitempty"`
}

func newSessionFilesCommand(a *app, f *sessionFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "files NAME", Short: "List the files of a session", Args: sessionArgs(1, 1, "the name of one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd, func(ctx context.Context, _ *settings, store *workspace.Store) error {
				files, err := store.Files(ctx, f.named(args[0]))
				if err != nil {
					return err
				}
				listed := make([]listedFile, len(files))
				for i, file := range files {
					listed[i] = listedFile{file.Path, len(file.Data), file.Executable}
				}
				if f.asJSON {
					return printLines(a, listed)
				}
				return a.printFiles(listed)
			})
		},
	}
	f.addJSON(cmd, "print a line of JSON for each file")
	return cmd
}

func (a *app) printFiles(files []listedFile) error {
	if len(files) == 0 {
		say(a.stderr, "the session has no files")
		return nil
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "SIZE\tMODE\tPATH")
	for _, file := range files {
		mode := fileMode(sandbox.File{Executable: file.Executable})
		_, _ = fmt.Fprintf(table, "%s\t%o\t%s\n", countedSize(int64(file.Bytes)), mode, quoted(file.Path))
	}
	return table.Flush()
}

func newSessionReadCommand(a *app, f *sessionFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "read NAME PATH", Short: "Print a file of a session",
		Long: `read prints a file of a session byte for byte, and with control characters made visible on a terminal.`,
		Args: sessionArgs(2, 2, "the name of a session and the path of a file in it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withSessions(cmd, func(ctx context.Context, _ *settings, store *workspace.Store) error {
				file, err := store.ReadFile(ctx, f.named(args[0]), args[1])
				if err != nil {
					return err
				}
				if f.asJSON {
					return a.printJSON(file)
				}
				return a.printFile(file)
			})
		},
	}
	f.addJSON(cmd, `print a JSON object with "path" and "data", which is text or {"base64": ...}`)
	return cmd
}

func (a *app) printFile(file sandbox.File) error {
	w := forProgram(a.stdout)
	if _, err := w.Write(file.Data); err != nil {
		return &cli.OutputError{Err: err}
	}
	if held, ok := w.(*cli.Disarmer); ok {
		return held.Flush()
	}
	return nil
}
