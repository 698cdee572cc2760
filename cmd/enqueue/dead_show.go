package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// deadProgram is what dead show tells of a program.
type deadProgram struct {
	// Bytes is the size of source and files, StdinBytes that of the input.
	Bytes      int  `json:"bytes"`
	StdinBytes int  `json:"stdin_bytes"`
	Files      int  `json:"files"`
	Graded     bool `json:"graded,omitempty"`
	// Source holds the main file and all others, with --source alone.
	Source []sandbox.File `json:"source,omitempty"`
}

func newDeadShowCommand(a *app) *cobra.Command {
	var asJSON, source bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Tell what is known of a dead letter: attempts, errors, size of its program",
		Args: oneID, ValidArgsFunction: a.completeDead,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				letter, job, err := client.DeadLetter(ctx, ids[0])
				if err != nil {
					return deadError(err)
				}
				program := describeProgram(job, source)
				if asJSON {
					return a.printJSON(struct {
						jobs.DeadLetter
						Program deadProgram `json:"program"`
					}{letter, program})
				}
				if err := a.printDeadLetter(letter, job, program); err != nil {
					return err
				}
				return a.printSource(program.Source)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	cmd.Flags().BoolVar(&source, "source", false, "show the program, too")
	return cmd
}

// describeProgram measures a program; with source it has all its files.
func describeProgram(job jobs.Job, source bool) deadProgram {
	files := slices.Clone(job.Program.Files)
	if len(job.Program.Source) > 0 {
		main := job.Program.Main
		if main == "" {
			main = "main"
		}
		files = append([]sandbox.File{{Path: main, Data: job.Program.Source}}, files...)
	}
	program := deadProgram{StdinBytes: len(job.Program.Stdin), Files: len(files), Graded: job.Grade != nil}
	for _, file := range files {
		program.Bytes += len(file.Data)
	}
	if source {
		program.Source = files
	}
	return program
}

func (a *app) printDeadLetter(letter jobs.DeadLetter, job jobs.Job, program deadProgram) error {
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", name, printable(value))
		}
	}
	row("job", letter.ID)
	row("tenant", letter.Tenant)
	row("queue", string(letter.Queue))
	row("language", letter.Language)
	row("program", fmt.Sprintf("%s, %s", counted(program.Files, "file"), countedSize(int64(program.Bytes))))
	if program.StdinBytes > 0 {
		row("input", countedSize(int64(program.StdinBytes)))
	}
	if program.Graded {
		row("graded", "yes")
	}
	if job.Session != nil {
		row("session", job.Session.Name)
	}
	row("idempotency key", job.IdempotencyKey)
	row("submitted", localTime(letter.SubmittedAt))
	row("given up", localTime(letter.DiedAt))
	row("last error", letter.Error)
	if err := table.Flush(); err != nil {
		return &cli.OutputError{Err: err}
	}
	_, _ = fmt.Fprintln(a.stdout)
	return a.printAttempts(letter)
}

// printAttempts shows the tries and, between them, when somebody had the job run again.
func (a *app) printAttempts(letter jobs.DeadLetter) error {
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ATTEMPT\tWORKER\tSTARTED\tSECONDS\tERROR")
	retries := letter.RetriedAt
	for _, attempt := range letter.Attempts {
		for len(retries) > 0 && retries[0].Before(attempt.Ended) {
			_, _ = fmt.Fprintf(table, "-\t-\t%s\t-\trun again by enqueue dead retry\n", localTime(retries[0]))
			retries = retries[1:]
		}
		_, _ = fmt.Fprintf(table, "%d\t%s\t%s\t%.3f\t%s\n", attempt.Number, printable(attempt.Worker), localTime(attempt.Started),
			max(0, attempt.Ended.Sub(attempt.Started)/time.Millisecond*time.Millisecond).Seconds(), printable(attempt.Error))
	}
	if err := table.Flush(); err != nil {
		return &cli.OutputError{Err: err}
	}
	return nil
}

// printSource shows the files of a program, each below its name.
func (a *app) printSource(files []sandbox.File) error {
	out := forProgram(a.stdout)
	for _, file := range files {
		_, err := fmt.Fprintf(out, "\n==> %s <==\n", printable(path.Clean(file.Path)))
		if err == nil {
			_, err = out.Write(file.Data)
		}
		if err == nil && (len(file.Data) == 0 || file.Data[len(file.Data)-1] != '\n') {
			_, err = io.WriteString(out, "\n")
		}
		if err != nil {
			return &cli.OutputError{Err: err}
		}
	}
	return nil
}

// counted numbers things for people.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
