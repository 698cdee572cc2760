package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/jobs"
)

func newSubmitCommand(a *app) *cobra.Command {
	var f jobFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "submit FILE|-... [flags] [-- ARGUMENT...]",
		Short: "Put programs on the queue and print the id of each job",
		Long: `submit puts each file on the queue as a job of its own, all with the same flags, and prints
the ids in the order of the files. Nothing is submitted if one of them is wrong. Of more files than the queue has room for
the rest is not submitted: the exit code is 75 then, and --json tells which.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if files, _ := programArgs(cmd.ArgsLenAtDash(), args); len(files) == 0 {
				return errNoFile
			} else if len(files) > 1 && f.key != "" {
				return errors.New("--key: is for one file: one key is one job")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.settings(cmd)
			if err != nil {
				return err
			}
			files, own := programArgs(cmd.ArgsLenAtDash(), args)
			batch := make([]jobs.Job, 0, len(files))
			for _, file := range files {
				job, err := f.job(cmd.Context(), a, s, file, own)
				if err != nil {
					return err
				}
				batch = append(batch, job)
			}
			client, closeClient, err := s.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient()
			submissions, err := client.SubmitMany(cmd.Context(), batch)
			return errors.Join(a.printSubmissions(submissions, asJSON), submitError(err))
		},
	}
	f.add(cmd.Flags(), jobs.Default)
	cmd.Flags().BoolVar(&asJSON, "json", false, `print a JSON object for each job: {"id":"..."}, with "error" and no id if it was not submitted`)
	return cmd
}

// submitted is what submit --json prints for each file.
type submitted struct {
	jobs.Submission
	Error string `json:"error,omitempty"`
}

// printSubmissions prints the ids of what was submitted, in JSON also what was not.
func (a *app) printSubmissions(submissions []jobs.Submission, asJSON bool) error {
	for _, submission := range submissions {
		if asJSON {
			line := submitted{Submission: submission}
			if submission.Err != nil {
				line.ID, line.Error = "", submission.Err.Error()
			}
			if err := a.printJSON(line); err != nil {
				return err
			}
			continue
		}
		if submission.Err != nil {
			continue
		}
		if _, err := fmt.Fprintln(a.stdout, submission.ID); err != nil {
			return err
		}
	}
	return nil
}
