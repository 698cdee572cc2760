package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/batch/lines"
	"github.com/sandloop/sandloop/internal/jobs"
)

// run judges a batch from its file to its reports.
func (f *batchFlags) run(cmd *cobra.Command, a *app, input string) error {
	s, err := a.settings(cmd)
	if err != nil {
		return err
	}
	read, err := f.lineSettings(s)
	if err != nil {
		return err
	}
	path, err := f.resultsPath(input)
	if err != nil {
		return err
	}
	if err := f.reports.check(path); err != nil {
		return err
	}
	if realPath(path) == realPath(input) {
		return usagef("--results %s: is the batch itself: want another file", path)
	}
	file, err := a.openBatch(cmd.Context(), input)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	kept, number, err := f.check(cmd.Context(), read, file, path)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	counts, err := f.judge(cmd.Context(), a, s, read, file, kept, number)
	if err != nil {
		return err
	}
	return f.conclude(a, kept, counts)
}

// check reads the whole batch before anything is submitted, and opens the results file. One that is there must
// be of this batch.
func (f *batchFlags) check(ctx context.Context, read *lines.Settings, file *os.File, path string) (*batch.Results, int, error) {
	if _, err := os.Stat(path); f.fresh || err != nil {
		number, err := read.Check(ctx, file, nil)
		if err != nil {
			return nil, 0, checkError(err)
		}
		kept, err := batch.OpenResults(path, f.fresh)
		return kept, number, resultsError(err)
	}
	kept, err := batch.OpenResults(path, false)
	if err != nil {
		return nil, 0, resultsError(err)
	}
	number, err := read.Check(ctx, file, func(index int, entry batch.Entry) error {
		_, err := kept.Has(index, entry)
		return err
	})
	if err == nil {
		err = kept.CheckLength(number)
	}
	if err != nil {
		_ = kept.Close()
		return nil, 0, checkError(resultsError(err))
	}
	return kept, number, nil
}

// checkError makes a usage error of what is wrong with the batch.
func checkError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return usageError(err)
}

// resultsError says what can be done about a results file that cannot be used.
func resultsError(err error) error {
	if errors.Is(err, batch.ErrOtherBatch) {
		return usagef("%w:\n--results names another file for this batch, --fresh throws the results away", err)
	}
	if err != nil {
		return usageError(err)
	}
	return nil
}

// judge has all entries judged that have no result yet.
func (f *batchFlags) judge(ctx context.Context, a *app, s *settings, read *lines.Settings, file *os.File, kept *batch.Results, number int) (batch.Counts, error) {
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
	shown := newProgress(a.stderr, number)
	counts, err := batch.Run(ctx, client, read.Entries(file), batch.Options{
		Results: kept, Tenant: f.tenant, Queue: jobs.Queue(f.queue), Reuse: f.reuse, Window: f.window,
		CancelOnInterrupt: f.cancel, Progress: shown.update, Notice: shown.note,
	})
	took := shown.close()
	say(a.stderr, "%d items judged in %s, %.1f/s", counts.Finished, took.Round(time.Millisecond), float64(counts.Finished)/took.Seconds())
	if err != nil {
		return counts, f.interrupted(a, counts, number, kept.Path(), err)
	}
	return counts, nil
}

// interrupted says where a batch stands that did not come to its end.
func (f *batchFlags) interrupted(a *app, counts batch.Counts, number int, path string, err error) error {
	say(a.stderr, "%d of %d items have a result in %s", counts.Results(), number, path)
	if counts.Canceled > 0 {
		say(a.stderr, "jobs canceled: %d", counts.Canceled)
	}
	if left := counts.Outstanding(); left > 0 {
		say(a.stderr, "jobs that go on in the queue: %d", left)
	}
	say(a.stderr, "the same command goes on from here")
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, nil}
	}
	return err
}

// conclude writes the reports and the summary, and makes the exit code.
func (f *batchFlags) conclude(a *app, kept *batch.Results, counts batch.Counts) error {
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
		return &exitError{exitFailure, fmt.Errorf("%d items could not be judged (IE): the same command tries them again", counts.Failed())}
	case counts.Unwanted > 0:
		return &exitError{exitNotOK, nil}
	}
	return nil
}

// toStdout tells whether a report is the command's output.
func (f *reportFiles) toStdout() bool {
	return f.csv == "-" || f.junit == "-" || f.html == "-"
}
