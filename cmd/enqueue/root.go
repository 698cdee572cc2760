package main

import (
	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
)

const longHelp = `enqueue puts programs on the queue, where workers run them in throwaway containers
without a network, and brings back what became of them.

` + exitCodesHelp

// newRootCommand makes the command line. Nothing is read or connected before a command runs.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "enqueue", Short: "Run untrusted programs on a pool of sandboxes", Long: longHelp,
		Example: `  enqueue run hello.py
  enqueue run sum.py --stdin numbers.txt -t 2 --memory 64MiB -- --verbose
  enqueue run plot.py --file data.csv --out plot.png
  id=$(enqueue submit hello.py) && enqueue wait "$id" && enqueue result "$id"`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRun: func(*cobra.Command, []string) { a.parsed = true },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.String("config", "", "configuration `file` (default: ./sandloop.yaml, then that of the user, then /etc/sandloop)")
	config.AddFlag(flags, "redis", "redis.addr", "`address` of Redis: embedded, host:port or a URL (default: embedded)")
	config.AddFlag(flags, "trace", "tracing.endpoint", "send traces to this OTLP over HTTP `endpoint` (default: none)")
	root.AddCommand(
		newRunCommand(a), newSubmitCommand(a), newWaitCommand(a), newResultCommand(a), newStatusCommand(a),
		newBatchCommand(a), newCancelCommand(a), newQuotaCommand(a), newStatsCommand(a), newLanguagesCommand(a), newReportCommand(a), newProblemCommand(a), newGradeCommand(a), newSessionCommand(a),
		newDeadCommand(a), newTopCommand(a),
	)
	cli.AddVersion(root, a.stdout)
	return root
}
