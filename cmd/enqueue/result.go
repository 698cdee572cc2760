package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/jobs"
)

func newResultCommand(a *app) *cobra.Command {
	view := recordView{out: &outFlags{}}
	cmd := &cobra.Command{
		Use:   "result ID",
		Short: "Print a finished job's output and exit with its code, as run would have",
		Long: `result prints the stored output of a finished job and exits with the program's code, as run
would have. Files that came back are written only when --out-dir is given.

` + exitCodesHelp,
		Args: oneID,
		RunE: func(cmd *cobra.Command, ids []string) error {
			view.writeFiles = cmd.Flags().Changed("out-dir")
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				record, err := client.Result(ctx, ids[0])
				if err != nil {
					return jobError(err)
				}
				return view.show(a, record, newOutput(a.stdout, a.stderr))
			})
		},
	}
	view.out.add(cmd.Flags())
	cmd.Flags().Lookup("out-dir").DefValue = "" // of run only
	cmd.Flags().BoolVar(&view.asJSON, "json", false, "print the whole record as one JSON object instead of the output")
	return cmd
}
