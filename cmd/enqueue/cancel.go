package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/jobs"
)

func newCancelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID...",
		Short: "Cancel jobs: one that waits never runs, one that runs is ended",
		Long: `cancel asks for the end of each job and does not wait for it. Canceling a job that is done
changes nothing.`,
		Args: someIDs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				var errs []error
				for _, id := range ids {
					if _, err := client.Cancel(ctx, id); err != nil {
						errs = append(errs, fmt.Errorf("cancel: %w", jobError(err)))
					}
				}
				return errors.Join(errs...)
			})
		},
	}
}
