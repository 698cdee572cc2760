package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/jobs"
)

// deadHelp is what --help says of dead.
const deadHelp = `A dead letter is a job that was given up because our own machinery failed on it every time: no Docker daemon, no
image, lost workers. The program is not to blame. Its result is infra_error. It is kept, program and all, as long as results are.

retry has dead letters run again under their ids, with all attempts anew, once what failed is mended. Who waits for the job, or
asks for its result later, gets the new one; its history keeps the old attempts and tells when it was retried.

A batch or a grading needs no retry: run again, the same command gives what could not be judged (IE) a new job of its own. It hears of a
retry only if it was interrupted before it had the old result; else the retried job is for whoever knows its id. What a worker could not
judge because test data was gone is dead again unless that is in Redis again.`

// deadFlags choose dead letters.
type deadFlags struct {
	queue, tenant string
	all, asJSON   bool
}

func newDeadCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dead", Short: "List the jobs that were given up, look at them, run them again", Long: deadHelp,
		Example: `  enqueue dead list --queue batch
  enqueue dead show 01JZ6W2T2K7M3Q0R4V8X5Y9ABC
  enqueue dead retry --all --tenant alice`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDeadListCommand(a), newDeadShowCommand(a), newDeadRetryCommand(a), newDeadDeleteCommand(a))
	return cmd
}

// addFilter adds the flags that choose dead letters.
func (f *deadFlags) addFilter(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.queue, "queue", "", "those of one `QUEUE` alone")
	cmd.Flags().StringVar(&f.tenant, "tenant", "", "those of one tenant `NAME` alone; \"\" is that of jobs without one")
	_ = cmd.RegisterFlagCompletionFunc("queue", completeQueue) // fails only without the flag
}

// filter checks the flags that choose dead letters.
func (f *deadFlags) filter(flags *pflag.FlagSet) (jobs.DeadFilter, error) {
	filter := jobs.DeadFilter{Queue: jobs.Queue(f.queue)}
	if _, err := jobs.ParseQueue(f.queue); err != nil {
		return filter, usagef("--%w", err)
	}
	if flags.Changed("tenant") {
		filter.Tenant = &f.tenant
	}
	return filter, nil
}

// deadError adds to an error about a dead letter what can be done.
func deadError(err error) error {
	if errors.Is(err, jobs.ErrNotDead) {
		return usageError(err)
	}
	return jobError(err)
}

// completeQueue offers the names of the queues to a shell.
func completeQueue(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, queue := range jobs.Queues() {
		names = append(names, string(queue))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

const (
	// completionTime bounds how long a shell waits for names from Redis, and completionMost is how many it gets.
	completionTime = time.Second
	completionMost = 100
)

// completeDead offers the ids of dead letters to a shell; none when Redis does not answer.
func (a *app) completeDead(cmd *cobra.Command, _ []string, _ string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	s, err := a.settings(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	client, closeClient, err := s.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer closeClient()
	for letter, err := range client.DeadLetters(ctx, jobs.DeadFilter{}) {
		if err != nil || len(ids) == completionMost {
			break
		}
		ids = append(ids, cobra.CompletionWithDesc(letter.ID, printable(letter.Error)))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
