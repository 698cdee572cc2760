package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/jobs"
)

func newStatusCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status ID", Short: "Tell where a job is on its way", Args: oneID,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				status, err := client.Status(ctx, ids[0])
				if err != nil {
					return jobError(err)
				}
				if asJSON {
					return a.printJSON(status)
				}
				return printStatus(a.stdout, status)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func printStatus(stdout io.Writer, status jobs.Status) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	row := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", name, printable(text))
		}
	}
	row("job", status.ID)
	row("state", status.State)
	row("outcome", status.Outcome)
	row("queue", status.Queue)
	row("tenant", status.Tenant)
	row("attempt", status.Attempt)
	row("worker", status.Worker)
	row("submitted", localTime(status.SubmittedAt))
	row("started", localTime(status.StartedAt))
	row("finished", localTime(status.FinishedAt))
	for _, at := range status.RetriedAt {
		row("retried", localTime(at))
	}
	if status.CancelRequested {
		row("canceled", "requested")
	}
	return table.Flush()
}

func localTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.RFC3339)
}
