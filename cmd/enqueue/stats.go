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

func newStatsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "stats", Short: "Count the jobs of each queue and list the workers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				stats, err := client.Stats(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(stats)
				}
				return printStats(a.stdout, stats)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func printStats(stdout io.Writer, stats jobs.Stats) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "QUEUE\tWAITING\tRUNNING\tTO RETRY\tGIVEN UP\tTENANTS\tOLDEST")
	for _, queue := range stats.Queues {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", queue.Queue, queue.Pending, queue.Running, queue.Retry, queue.Dead, queue.Tenants, oldest(queue))
	}
	_, _ = fmt.Fprintln(table)
	if len(stats.Workers) == 0 {
		_, _ = fmt.Fprintln(table, "no worker is running")
		return table.Flush()
	}
	_, _ = fmt.Fprintln(table, "WORKER\tSLOTS\tINTERACTIVE\tRUNNING\tSTARTED")
	for _, worker := range stats.Workers {
		_, _ = fmt.Fprintf(table, "%s\t%d\t+%d\t%d\t%s\n", printable(worker.ID), worker.Slots, worker.InteractiveSlots, worker.Running, worker.Started.Local().Format(time.RFC3339))
	}
	return table.Flush()
}

// oldest is for how long the first job of a queue has waited.
func oldest(queue jobs.QueueStats) string {
	if queue.Pending == 0 {
		return "-"
	}
	return time.Duration(queue.OldestSeconds * float64(time.Second)).Round(time.Second).String()
}
