package main

import (
	"context"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/jobs"
)

const quotaHelp = `Tenants whose jobs wait in one queue take turns, whoever came first: a tenant with 100,000 jobs does not delay
another's ten. A quota weights the turns of a tenant and bounds what it runs and what it may have waiting; a depth
bounds what waits in a queue altogether, 1,000,000 jobs unless it is set. Both hold for all workers and producers at once.

What would be too much is refused with the time after which to try again: submit and run end with 75 then, and
batch and grade wait. A job that was accepted is never refused again. A quota counts in each queue by itself: a
concurrency of 4 is 4 interactive jobs, 4 default and 4 batch ones.

The tenant * is every tenant without a quota of its own; "" is the jobs without a tenant.`

func newQuotaCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "quota", Short: "Bound what tenants and queues may have, and weight the tenants' turns", Long: quotaHelp,
		Example: `  enqueue quota set '*' --max-queued 10000 --max-bytes 256MiB
  enqueue quota set course-a --weight 3 --concurrency 8
  enqueue quota set bot --rate 5 --burst 20
  enqueue quota remove course-a
  enqueue quota depth batch --max-queued 500000
  enqueue quota list`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newQuotaListCommand(a), newQuotaSetCommand(a), newQuotaRemoveCommand(a), newQuotaDepthCommand(a))
	return cmd
}

// quotaList is what quota list prints with --json.
type quotaList struct {
	Tenants []jobs.TenantQuota `json:"tenants"`
	Queues  []jobs.QueueDepth  `json:"queues"`
}

func newQuotaListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the quotas of tenants and the depths of queues", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) (err error) {
				var list quotaList
				if list.Tenants, err = client.Quotas(ctx); err != nil {
					return err
				}
				if list.Queues, err = client.Depths(ctx); err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(list)
				}
				return a.printQuotas(list)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func (a *app) printQuotas(list quotaList) error {
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	if len(list.Tenants) > 0 {
		_, _ = fmt.Fprintln(table, "TENANT\tWEIGHT\tCONCURRENCY\tRATE\tBURST\tMAX QUEUED\tMAX BYTES")
	}
	for _, quota := range list.Tenants {
		rate, burst := "-", "-"
		if quota.Rate > 0 {
			rate, burst = strconv.FormatFloat(quota.Rate, 'g', -1, 64)+"/s", strconv.Itoa(max(1, quota.Burst))
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", tenantName(quota.Tenant), max(1, quota.Weight), bound(int64(quota.Concurrency)),
			rate, burst, bound(quota.MaxQueued), boundSize(quota.MaxQueuedBytes))
	}
	if len(list.Tenants) > 0 {
		_, _ = fmt.Fprintln(table)
	}
	_, _ = fmt.Fprintln(table, "QUEUE\tMAX QUEUED\tMAX BYTES")
	for _, depth := range list.Queues {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", depth.Queue, bound(depth.MaxQueued), boundSize(depth.MaxQueuedBytes))
	}
	return table.Flush()
}

// tenantName makes a tenant's name safe to show; the empty one can be seen.
func tenantName(tenant string) string {
	if tenant == "" {
		return `""`
	}
	return printable(tenant)
}

// bound shows a number of which 0 is none.
func bound(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

func boundSize(n int64) string {
	if n == 0 {
		return "-"
	}
	return countedSize(n)
}
