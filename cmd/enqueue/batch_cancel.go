package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/jobs"
)

// batchCancelHelp is what --help says of batch cancel.
const batchCancelHelp = `cancel ends a batch or a grading from anywhere: nothing of it that waits ever runs, what runs is ended down to
its container, and the command that submits it, if it still runs, stops with exit code 130. What was canceled stands in
the results file as IE until the same command judges it: it goes on where the batch was.

A batch is named by its results file, or by the name that its command prints at the beginning, for another host. Canceling twice
is as canceling once.

Exit codes: 0 when nothing of it waits or runs any more, 1 when a job has not ended within 15 s, 2 when there is no
such results file, 125 when Redis failed.`

// canceledWithin is how long the jobs that ran are waited for.
const canceledWithin = 15 * time.Second

// batchName is what a name looks like that a batch gives itself.
var batchName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// canceledBatch is what batch cancel says.
type canceledBatch struct {
	Batch string `json:"batch"`
	jobs.BatchCancellation
	// Lasting are the jobs that were running and have not ended yet.
	Lasting int `json:"lasting"`
}

func newBatchCancelCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "cancel RESULTS-FILE|NAME", Short: "End a batch or a grading from another terminal, or after its command died", Long: batchCancelHelp,
		Example: `  enqueue batch cancel answers.results.jsonl
  enqueue batch cancel 5f0c93d1a2b4e687`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("want the results file of one batch, or its name")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := findBatch(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				say(a.stderr, "%s: nothing of the batch is under way", args[0])
				return nil
			}
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				return a.cancelBatch(ctx, client, name, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// findBatch returns the name of a batch, empty if it has come to its end.
func findBatch(given string) (string, error) {
	name, err := batch.NameOf(given)
	switch {
	case errors.Is(err, fs.ErrNotExist) && batchName.MatchString(given):
		return given, nil
	case err != nil:
		return "", usagef("%w: want the results file of a batch, or its name of 16 digits and letters", err)
	}
	return name, nil
}

// cancelBatch cancels a batch, sees to it that what ran has ended, and tells how much it was.
func (a *app) cancelBatch(ctx context.Context, client *jobs.Client, name string, asJSON bool) error {
	found, err := client.CancelBatch(ctx, name)
	if err != nil {
		return err
	}
	waiting, stop := context.WithTimeout(ctx, canceledWithin)
	defer stop()
	said := canceledBatch{Batch: name, BatchCancellation: found}
	for _, id := range found.RunningIDs {
		var late *jobs.AwaitError
		if _, err := client.Await(waiting, id); errors.As(err, &late) {
			said.Lasting++
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if asJSON {
		err = a.printJSON(said)
	} else {
		_, err = fmt.Fprintf(a.stdout, "canceled %d queued and %d running; %d had ended\n", found.Queued, found.Running, found.Done)
	}
	if err == nil && said.Lasting > 0 {
		return exitWith(exitNotOK, fmt.Errorf("%d of the running jobs have not ended within %s: their workers end them, or are lost and will be replaced", said.Lasting, canceledWithin))
	}
	return err
}
