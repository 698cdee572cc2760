package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// waited is what wait learned of one job.
type waited struct {
	id     string
	record jobs.Record
	err    error
}

func newWaitCommand(a *app) *cobra.Command {
	var limit *sandbox.Seconds
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "wait ID...",
		Short: "Wait for jobs and print a line for each as it ends",
		Long: `wait prints a line for each job as it ends: id, outcome, exit code and seconds.

It exits with 0 when every program is ok, with 1 when one is not, and with 125 when a result
could not be had or our machinery failed.`,
		Args: someIDs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				ctx, cancel := waitContext(ctx, limit)
				defer cancel(nil)
				return a.waitAll(ctx, client, ids, asJSON)
			})
		},
	}
	addWaitTimeout(cmd.Flags(), &limit)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each whole record as one line of JSON")
	return cmd
}

// waitAll waits for all jobs at once and reports each as it comes.
func (a *app) waitAll(ctx context.Context, client *jobs.Client, ids []string, asJSON bool) error {
	results := make(chan waited, len(ids))
	for _, id := range ids {
		go func() {
			record, err := client.Await(ctx, id)
			results <- waited{id, record, err}
		}()
	}
	code := 0
	for range ids {
		ended := <-results
		if ended.err != nil {
			code = exitFailure
			if ctx.Err() == nil || errors.Is(context.Cause(ctx), errWaitTimeout) {
				report(a.stderr, awaitError(ended.id, ended.err))
			}
			continue
		}
		switch {
		case ended.record.Result.Outcome == sandbox.OutcomeInfraError:
			code = exitFailure
		case !ended.record.Result.OK && code == 0:
			code = exitNotOK
		}
		if err := a.printEnd(ended.record, asJSON); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errWaitTimeout) {
		return err
	}
	if code == 0 {
		return nil
	}
	return exitWith(code, nil)
}

func (a *app) printEnd(record jobs.Record, asJSON bool) error {
	if asJSON {
		return a.printJSON(record)
	}
	result := record.Result
	_, err := fmt.Fprintf(a.stdout, "%-26s  %-13s  %4d  %7.3f\n", record.JobID, result.Outcome, result.ExitCode, result.Duration.Duration().Seconds())
	return err
}
