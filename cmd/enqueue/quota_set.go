package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/jobs"
)

func newQuotaSetCommand(a *app) *cobra.Command {
	var flags quotaFlags
	cmd := &cobra.Command{
		Use: "set TENANT", Short: "Set a tenant's quota",
		Long: `set changes what the flags say of a tenant's quota; the rest stays as it is. 0 removes a bound. Of what waits already
nothing is refused, and of what runs already nothing is ended. A tenant with a quota of its own obeys no part of that of *.`,
		Args: oneTenant,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.given(cmd.Flags()) {
				return usageError(errors.New("quota set: nothing to set: want one of the flags"))
			}
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				quotas, err := client.Quotas(ctx)
				if err != nil {
					return err
				}
				quota := jobs.Quota{}
				if i := slices.IndexFunc(quotas, func(q jobs.TenantQuota) bool { return q.Tenant == args[0] }); i >= 0 {
					quota = quotas[i].Quota
				}
				flags.change(cmd.Flags(), &quota)
				if err := quota.Validate(); err != nil {
					return usageError(err)
				}
				return client.SetQuota(ctx, args[0], quota)
			})
		},
	}
	flags.add(cmd.Flags())
	return cmd
}

// oneTenant checks the one argument of a command.
func oneTenant(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("want the name of one tenant")
	}
	return nil
}

// quotaFlags are the parts of a quota on a command line.
type quotaFlags struct {
	quota jobs.Quota
	bytes boundFlag
}

func (f *quotaFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.quota.Weight, "weight", 0, "share of the turns while other tenants wait too (default: 1)")
	flags.IntVar(&f.quota.Concurrency, "concurrency", 0, "jobs that run at once")
	flags.Float64Var(&f.quota.Rate, "rate", 0, "jobs that start in a second, such as 5 or 0.1")
	flags.IntVar(&f.quota.Burst, "burst", 0, "jobs that may start at once after a pause (default: 1)")
	addDepthFlags(flags, &f.quota.MaxQueued, &f.bytes)
}

// addDepthFlags adds the bounds of what waits.
func addDepthFlags(flags *pflag.FlagSet, jobs *int64, bytes *boundFlag) {
	flags.Int64Var(jobs, "max-queued", 0, "jobs that wait")
	flags.Var(bytes, "max-bytes", "their size as they are stored, compressed, such as 64MiB")
}

func (f *quotaFlags) given(flags *pflag.FlagSet) bool {
	return slices.ContainsFunc([]string{"weight", "concurrency", "rate", "burst", "max-queued", "max-bytes"}, flags.Changed)
}

// change takes over what the command line says.
func (f *quotaFlags) change(flags *pflag.FlagSet, quota *jobs.Quota) {
	for name, set := range map[string]func(){
		"weight": func() { quota.Weight = f.quota.Weight }, "concurrency": func() { quota.Concurrency = f.quota.Concurrency },
		"rate": func() { quota.Rate = f.quota.Rate }, "burst": func() { quota.Burst = f.quota.Burst },
		"max-queued": func() { quota.MaxQueued = f.quota.MaxQueued }, "max-bytes": func() { quota.MaxQueuedBytes = int64(f.bytes) },
	} {
		if flags.Changed(name) {
			set()
		}
	}
	if quota.Rate == 0 && !flags.Changed("burst") {
		quota.Burst = 0 // it belongs to the rate that there was
	}
}

// boundFlag is a size of which 0 is no bound.
type boundFlag int64

// Set reads a size.
func (b *boundFlag) Set(text string) error {
	size, err := config.ParseSize(text)
	*b = boundFlag(size)
	return err
}

// String is the flag's default in help, none.
func (b *boundFlag) String() string { return "" }

// Type names the kind of value in help.
func (b *boundFlag) Type() string { return "SIZE" }

func newQuotaRemoveCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove TENANT", Short: "Remove a tenant's quota, so that it obeys that of *", Args: oneTenant,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				return client.RemoveQuota(ctx, args[0])
			})
		},
	}
}

func newQuotaDepthCommand(a *app) *cobra.Command {
	var most int64
	var bytes boundFlag
	cmd := &cobra.Command{
		Use: "depth QUEUE", Short: "Bound what waits in a queue, whoever it is from",
		Long: `depth changes what the flags say of how much may wait in a queue; the rest stays as it is. 0 removes a bound. Of what
waits already nothing is refused.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return errors.New("want the name of one queue")
			}
			_, err := jobs.ParseQueue(args[0])
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("max-queued") && !cmd.Flags().Changed("max-bytes") {
				return usageError(errors.New("quota depth: nothing to set: want --max-queued or --max-bytes"))
			}
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				depths, err := client.Depths(ctx)
				if err != nil {
					return err
				}
				queue := jobs.Queue(args[0])
				depth := depths[slices.IndexFunc(depths, func(d jobs.QueueDepth) bool { return d.Queue == queue })].Depth
				if cmd.Flags().Changed("max-queued") {
					depth.MaxQueued = most
				}
				if cmd.Flags().Changed("max-bytes") {
					depth.MaxQueuedBytes = int64(bytes)
				}
				if err := depth.Validate(); err != nil {
					return usageError(err)
				}
				return client.SetDepth(ctx, queue, depth)
			})
		},
	}
	addDepthFlags(cmd.Flags(), &most, &bytes)
	return cmd
}
