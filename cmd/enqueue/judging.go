package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
)

// judgingFlags are what a command line says about judging many submissions.
type judgingFlags struct {
	mode       string
	keepOutput int
	queue      string
	tenant     string
	window     int
	reuse      bool
	results    string
	fresh      bool
	cancel     bool
	reports    reportFiles
}

// judging is a batch that is ready to be judged.
type judging struct {
	entries iter.Seq2[batch.Entry, error]
	number  int
	kept    *batch.Results
	// prepare, if not nil, stores what the jobs refer to. It calls fail when trying again is no use.
	prepare func(ctx context.Context, client *jobs.Client, fail context.CancelCauseFunc) error
}

func (f *judgingFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.mode, "mode", "as-needed", "as-needed or first-failure end a submission at its first rejected test; all runs every test")
	flags.IntVar(&f.keepOutput, "keep-output", 2048, "`BYTES` of each output that a result keeps; 0 for none")
	flags.StringVar(&f.queue, "queue", string(jobs.Batch), "`QUEUE`: interactive, default or batch")
	flags.StringVar(&f.tenant, "tenant", "", "`NAME` on whose behalf the jobs run")
	flags.IntVar(&f.window, "window", 1000, "how many jobs are in the queue at once")
	flags.BoolVar(&f.reuse, "reuse", false, "let jobs of this batch share containers, one after the other, where the operator allows it")
	flags.StringVar(&f.results, "results", "", "`FILE` for the results (default: the name of the batch with .results.jsonl)")
	flags.BoolVar(&f.fresh, "fresh", false, "throw away the results that are there and judge all anew")
	flags.BoolVar(&f.cancel, "cancel-on-interrupt", false, "cancel what is in the queue when interrupted")
	f.reports.add(flags)
}

// check tells everything that is wrong with the flags.
func (f *judgingFlags) check() (grade.Mode, []error) {
	modes := map[string]grade.Mode{"as-needed": grade.AsNeeded, "first-failure": grade.FirstFailure, "all": grade.Everything}
	mode, known := modes[f.mode]
	var errs []error
	if !known {
		errs = append(errs, fmt.Errorf("--mode: %q is unknown: want as-needed, first-failure or all", f.mode))
	}
	if f.window < 1 {
		errs = append(errs, fmt.Errorf("--window: %d: want at least 1", f.window))
	}
	if f.keepOutput < 0 || f.keepOutput > grade.MaxKeepOutput {
		errs = append(errs, fmt.Errorf("--keep-output: %d: want 0 to %d", f.keepOutput, grade.MaxKeepOutput))
	}
	if _, err := jobs.ParseQueue(f.queue); err != nil {
		errs = append(errs, fmt.Errorf("--%w", err))
	}
	return mode, errs
}

// resultsError says what can be done about a results file that cannot be used. An interruption while it is compared with
// the batch is none.
func resultsError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, batch.ErrOtherBatch) {
		return usagef("%w:\n--results names another file for this batch, --fresh throws the results away", err)
	}
	if err != nil {
		return usageError(err)
	}
	return nil
}

// judge has all entries judged that have no result yet.
func (f *judgingFlags) judge(ctx context.Context, a *app, s *settings, j judging) (batch.Counts, error) {
	kept, number := j.kept, j.number
	before := kept.Counts()
	if before.Skipped > 0 {
		say(a.stderr, "%d of %d items have a result in %s already", before.Skipped, number, kept.Path())
	}
	if before.Skipped == number {
		return before, kept.Complete()
	}
	client, closeClient, err := s.connect(ctx)
	if err != nil {
		return before, err
	}
	defer closeClient()
	say(a.stderr, "batch %s: enqueue batch cancel %[1]s ends it from anywhere", kept.Name())
	shown := newProgress(a.stderr, number)
	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var prepare func(context.Context) error
	if j.prepare != nil {
		prepare = func(ctx context.Context) error { return j.prepare(ctx, client, fail) }
	}
	counts, err := batch.Run(running, client, j.entries, batch.Options{
		Results: kept, Tenant: f.tenant, Queue: jobs.Queue(f.queue), Reuse: f.reuse, Window: f.window,
		CancelOnInterrupt: f.cancel, Prepare: prepare, Progress: shown.update, Notice: shown.note,
	})
	took := shown.close()
	say(a.stderr, "%d items judged in %s, %.1f/s", counts.Finished, took.Round(time.Millisecond), float64(counts.Finished)/took.Seconds())
	if err != nil {
		return counts, f.interrupted(a, counts, number, kept.Path(), err)
	}
	return counts, nil
}

// interrupted says where a batch stands that did not come to its end.
func (f *judgingFlags) interrupted(a *app, counts batch.Counts, number int, path string, err error) error {
	say(a.stderr, "%d of %d items have a result in %s", counts.Results(), number, path)
	if counts.Canceled > 0 {
		say(a.stderr, "jobs canceled: %d", counts.Canceled)
	}
	if left := counts.Outstanding(); left > 0 {
		say(a.stderr, "jobs that go on in the queue: %d", left)
	}
	say(a.stderr, "the same command goes on from here")
	switch {
	case errors.Is(err, context.Canceled):
		return exitWith(exitInterrupted, nil)
	case errors.Is(err, batch.ErrCanceled):
		return exitWith(exitInterrupted, err)
	}
	return err
}

// conclude writes the reports and the summary, and makes the exit code.
func (f *judgingFlags) conclude(a *app, kept *batch.Results, counts batch.Counts) error {
	if err := f.reports.write(a.stdout, kept.Items()); err != nil {
		return err
	}
	if !f.reports.toStdout() {
		if err := a.printSummary(kept.Items(), false); err != nil {
			return err
		}
	}
	switch {
	case counts.Failed() > 0:
		return exitWith(exitFailure, fmt.Errorf("%d items could not be judged (IE): the same command tries them again", counts.Failed()))
	case counts.Unwanted > 0:
		return exitWith(exitNotOK, nil)
	}
	return nil
}

// toStdout tells whether a report is the command's output.
func (f *reportFiles) toStdout() bool {
	return f.csv == "-" || f.junit == "-" || f.html == "-"
}
