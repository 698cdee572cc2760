package main

import (
	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
)

const longHelp = `agent gives a language model a task and a sandbox to work in. The model runs code, commands and files
there through the queue, sees what became of them, and goes on until it answers.

The model's text goes to standard output; what it does is shown on standard error. Keys come from the
environment alone: ANTHROPIC_API_KEY, OPENAI_API_KEY. Without a key, --script plays a model from a file,
and --base-url with --model talks to a local server, as OpenAI's would be talked to.

` + exitCodesHelp

// newRootCommand makes the command line. Nothing is read or connected before a command runs.
func newRootCommand(a *app) *cobra.Command {
	var f runFlags
	root := &cobra.Command{
		Use: programName + " TASK|-", Short: "Give a language model a task and a sandbox to work in", Long: longHelp,
		Example: `  agent "Plot sin(x) from 0 to 10 as sin.png" --out plots
  agent - --session report --base-url http://127.0.0.1:11434/v1 --model qwen3 < task.txt
  agent --script examples/agent/repair.yaml --out /tmp/repair
  agent "Now with a legend" --resume run.json`,
		Args:          f.source.args,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRun: func(*cobra.Command, []string) { a.parsed = true },
		RunE:             func(cmd *cobra.Command, args []string) error { return f.run(cmd, a, args) },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	flags := root.PersistentFlags()
	flags.String("config", "", "configuration `file` (default: ./sandloop.yaml, then that of the user, then /etc/sandloop)")
	config.AddFlag(flags, "redis", "redis.addr", "`address` of Redis: embedded, host:port or a URL (default: embedded)")
	config.AddFlag(flags, "trace", "tracing.endpoint", "send traces to this OTLP over HTTP `endpoint` (default: none)")
	f.add(root.Flags())
	root.AddCommand(newMCPCommand(a))
	cli.AddVersion(root, a.stdout)
	return root
}
