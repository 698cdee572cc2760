package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/batch/lines"
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
	counts, err := f.judge(cmd.Context(), a, s, judging{entries: read.Entries(file), number: number, kept: kept})
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
