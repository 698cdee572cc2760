package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
)

const longHelp = `worker takes jobs from the queue and runs each in a hardened throwaway container.

It stops when it gets SIGTERM or SIGINT: it takes no more jobs, lets those that run finish
within worker.grace, hands the rest back to the queue and removes its containers. A second
signal ends it at once.

Exit codes: 0 stopped as told, 1 could not start or failed, 2 bad command line.`

// app is what the commands share.
type app struct {
	stdout, stderr io.Writer
	// parsed is set once the command line is known to be right.
	parsed bool
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "worker", Short: "Run jobs from the queue in sandboxes", Long: longHelp,
		Example: `  worker --embedded                      a laptop: Redis inside this process
  worker --redis redis://queue:6379      one of many workers on one queue
  worker check                           is the isolation what was asked for?`,
		Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		PersistentPreRun: func(*cobra.Command, []string) { a.parsed = true },
	}
	config.AddFlags(root.PersistentFlags())
	flags := root.Flags()
	config.AddFlag(flags, "concurrency", "worker.concurrency", "run this `number` of jobs at once; 0 finds out what fits")
	config.AddFlag(flags, "admin", "admin.addr", "serve probes, metrics and pages at this `address`, such as 127.0.0.1:9390")
	embedded := flags.Bool("embedded", false, "serve a Redis inside this process; nothing in it survives (redis.addr embedded)")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *embedded {
			if cmd.Flags().Changed("redis") {
				return &usageError{errors.New("--embedded and --redis: want one of them")}
			}
			if err := cmd.Flags().Set("redis", config.Embedded); err != nil {
				return err
			}
		}
		loaded, err := config.Load(cmd.Flags())
		if err != nil {
			return &startError{[]error{err}}
		}
		return a.serve(cmd.Context(), loaded)
	}
	root.AddCommand(newCheckCommand(a), newHealthCommand(a), newDockerProxyCommand(a))
	cli.AddVersion(root, a.stdout)
	return root
}
