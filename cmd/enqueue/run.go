package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/tracing/spans"
)

// runFlags are the flags of run beside those of the job.
type runFlags struct {
	job    jobFlags
	out    outFlags
	asJSON bool
	wait   *sandbox.Seconds
}

func newRunCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|- [flags] [-- ARGUMENT...]",
		Short: "Run a program, print its output as it comes and exit with its code",
		Long: `run puts a program on the queue, prints its two output streams as they come and exits
with its code. What a compiler says goes to standard error. Ctrl-C cancels the job.

` + exitCodesHelp,
		Args: func(cmd *cobra.Command, args []string) error { return oneFile(cmd.ArgsLenAtDash(), args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.settings(cmd)
			if err != nil {
				return err
			}
			if err := f.out.check(); err != nil {
				return err
			}
			files, own := programArgs(cmd.ArgsLenAtDash(), args)
			job, err := f.job.job(cmd.Context(), a, s, files[0], own)
			if err != nil {
				return err
			}
			client, closeClient, err := s.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient()
			ctx, span := spans.Begin(cmd.Context(), s.traces.Provider(), "enqueue run")
			defer span.End()
			return f.run(ctx, a, client, job, !f.asJSON || cmd.Flags().Changed("out-dir"))
		},
	}
	f.job.add(cmd.Flags(), jobs.Interactive)
	f.out.add(cmd.Flags())
	addWaitTimeout(cmd.Flags(), &f.wait)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the whole record as one JSON object instead of the output")
	return cmd
}

// run submits the job and sees it to its end.
func (f *runFlags) run(ctx context.Context, a *app, client *jobs.Client, job jobs.Job, writeFiles bool) error {
	job.Follow = !f.asJSON
	// An interrupt in the middle would leave a job that nobody knows to cancel.
	submitting, stop := context.WithTimeout(context.WithoutCancel(ctx), submitTime)
	defer stop()
	submitted, err := client.Submit(submitting, job)
	if err != nil {
		return submitError(err)
	}
	ctx, cancel := waitContext(ctx, f.wait)
	defer cancel(nil)
	shown := newOutput(a.stdout, a.stderr)
	record, err := f.await(ctx, cancel, a, client, submitted.ID, shown)
	if err != nil {
		record, err = f.giveUp(ctx, a, client, submitted.ID, err)
		if err != nil {
			return err
		}
	}
	view := recordView{out: &f.out, patterns: job.Program.Outputs, asJSON: f.asJSON, writeFiles: writeFiles}
	return view.show(a, record, shown)
}

// await prints live output until the record is there.
func (f *runFlags) await(ctx context.Context, cancel context.CancelCauseFunc, a *app, client *jobs.Client, id string, shown *output) (jobs.Record, error) {
	beside, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	others.Go(func() { a.warnWithoutWorker(beside, client, id) })
	if f.asJSON {
		return client.Await(ctx, id)
	}
	others.Go(func() {
		// What is lost on the way is printed from the record at the end.
		_ = client.Follow(beside, id, func(piece sandbox.Output) {
			if err := shown.live(piece); err != nil {
				cancel(&cli.OutputError{Err: err})
			}
		})
	})
	return client.Await(ctx, id)
}

// idleTime is how long a job waits before run looks whether there are workers at all.
const idleTime = 3 * time.Second

// warnWithoutWorker says that nobody is there to take the job.
func (a *app) warnWithoutWorker(ctx context.Context, client *jobs.Client, id string) {
	select {
	case <-time.After(idleTime):
	case <-ctx.Done():
		return
	}
	if stats, err := client.Stats(ctx); err == nil && len(stats.Workers) == 0 {
		say(a.stderr, "no worker is running: job %s waits for one (Ctrl-C cancels it)", id)
	}
}

const (
	// submitTime bounds the submission of one job.
	submitTime = 30 * time.Second
	// cancelGrace is how long an interrupted run waits for its job to have ended.
	cancelGrace = 10 * time.Second
)

// giveUp decides what becomes of a job whose result run could not await: it is canceled when
// we were interrupted or nobody reads its output, and goes on when the wait was too long.
func (f *runFlags) giveUp(ctx context.Context, a *app, client *jobs.Client, id string, err error) (jobs.Record, error) {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(cause, errWaitTimeout) {
		return jobs.Record{}, awaitError(id, err)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer cancel()
	var unread *cli.OutputError
	if errors.As(cause, &unread) {
		_, err := client.Cancel(ending, id)
		return jobs.Record{}, errors.Join(unread, err)
	}
	say(a.stderr, "canceling job %s (Ctrl-C again leaves at once)", id)
	if _, err := client.Cancel(ending, id); err != nil {
		return jobs.Record{}, exitWith(exitInterrupted, err)
	}
	record, err := client.Await(ending, id)
	if err != nil {
		return jobs.Record{}, exitWith(exitInterrupted, awaitError(id, err))
	}
	return record, nil
}
