package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/sandloop/sandloop/internal/jobs"
)

// deadAtOnce is how many dead letters are changed at the same time.
const deadAtOnce = 8

func newDeadRetryCommand(a *app) *cobra.Command {
	return newDeadChangeCommand(a, (*jobs.Client).RetryDead, "run again", &cobra.Command{
		Use: "retry ID...|--all", Short: "Run dead letters again under their ids",
		Long: `retry has dead letters run again and does not wait for them: enqueue wait ID does. Retrying one that was
retried and has no new result yet changes nothing. What is no dead letter is refused.

` + deadHelp,
	})
}

func newDeadDeleteCommand(a *app) *cobra.Command {
	return newDeadChangeCommand(a, (*jobs.Client).DeleteDead, "deleted", &cobra.Command{
		Use: "delete ID...|--all", Short: "Forget dead letters: program, result and history",
		Long: `delete forgets dead letters. Afterwards there is no such job, and its idempotency key is free. What is no
dead letter is refused.`,
	})
}

// newDeadChangeCommand completes a command that does something with the named dead letters or all.
func newDeadChangeCommand(a *app, change func(*jobs.Client, context.Context, string) error, done string, cmd *cobra.Command) *cobra.Command {
	var f deadFlags
	cmd.ValidArgsFunction = a.completeDead
	cmd.Args = func(cmd *cobra.Command, ids []string) error {
		switch {
		case f.all && len(ids) > 0:
			return errors.New("--all beside ids: want one of them")
		case !f.all && len(ids) == 0:
			return errors.New("want the ids of dead letters, as enqueue dead list prints them, or --all")
		case !f.all && (cmd.Flags().Changed("queue") || cmd.Flags().Changed("tenant")):
			return errors.New("--queue and --tenant choose among --all: want that, too")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		filter, err := f.filter(cmd.Flags())
		if err != nil {
			return err
		}
		return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
			changed, err := changeDead(ctx, client, change, ids, filter)
			say(a.stderr, "%s %s", counted(changed, "dead letter"), done)
			return err
		})
	}
	f.addFilter(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "all that there are, or that --queue and --tenant choose")
	return cmd
}

// changeDead changes the named dead letters, or without any all that the filter chooses. It returns how many it changed, and an
// error for each that was named and could not be changed.
func changeDead(ctx context.Context, client *jobs.Client, change func(*jobs.Client, context.Context, string) error, ids []string, filter jobs.DeadFilter) (int, error) {
	var changed atomic.Int64
	errs := make([]error, len(ids))
	changes := errgroup.Group{}
	changes.SetLimit(deadAtOnce)
	for i, id := range ids {
		changes.Go(func() error {
			if err := change(client, ctx, id); err != nil {
				errs[i] = deadError(err)
				return nil
			}
			changed.Add(1)
			return nil
		})
	}
	if len(ids) > 0 {
		_ = changes.Wait() // errs has them all
		return int(changed.Load()), errors.Join(errs...)
	}
	var listing error
	for letter, err := range client.DeadLetters(ctx, filter) {
		if err != nil {
			listing = err
			break
		}
		changes.Go(func() error {
			err := change(client, ctx, letter.ID)
			if err == nil {
				changed.Add(1)
			}
			if errors.Is(err, jobs.ErrNotDead) || errors.Is(err, jobs.ErrNotFound) { // somebody was faster
				return nil
			}
			return err
		})
	}
	err := changes.Wait()
	return int(changed.Load()), errors.Join(listing, err)
}
