package main

import (
	"errors"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/grade"
	results "github.com/sandloop/sandloop/internal/grade/report"
)

func newReportCommand(a *app) *cobra.Command {
	var files reportFiles
	var asJSON bool
	cmd := &cobra.Command{
		Use: "report RESULTS.jsonl", Short: "Turn the results of a batch into a table, a CSV file, JUnit XML or a web page",
		Long: `report reads the results that grade and batch wrote, a line of JSON for each item, and writes what is
asked for. Without any of --csv, --junit and --html it prints a summary. "-" is the standard output.
An item that could not be judged (IE) and was judged later counts once. A last line that is
incomplete, as of a batch that still runs, is left out with a note.`,
		Example: `  enqueue report results.jsonl
  enqueue report results.jsonl --html results.html --csv results.csv --title "Homework 3"
  enqueue report results.jsonl --junit - | less`,
		Args: oneResultsFile,
		RunE: func(_ *cobra.Command, args []string) error {
			path := args[0]
			if err := files.check(path); err != nil {
				return err
			}
			if asJSON && files.any() {
				return usagef("--json: want it without --csv, --junit and --html, beside which no summary is printed")
			}
			torn := false
			items := wholeItems(results.ReadFile(path), &torn)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() { // what can be read twice
				items = results.Final(items)
			}
			err := files.write(a.stdout, items)
			if err == nil && !files.any() {
				err = a.printSummary(items, asJSON)
			}
			if torn {
				say(a.stderr, "%s: the last line is incomplete and left out", path)
			}
			return err
		},
	}
	files.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the summary as a JSON object")
	return cmd
}

func oneResultsFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("want one file with results, as grade and batch write it")
	}
	if _, err := os.Stat(args[0]); err != nil {
		return err
	}
	return nil
}

// wholeItems ends quietly where a results file is torn, and tells so. An item without a verdict is
// an error: batches write none, and their own lines look like items.
func wholeItems(items iter.Seq2[results.Item, error], torn *bool) iter.Seq2[results.Item, error] {
	return func(yield func(results.Item, error) bool) {
		for item, err := range items {
			if err == nil && item.Verdict == grade.NotRun {
				err = usagef("item %.80q: has no verdict: want a results file, not the batch itself", item.ID)
			}
			if *torn = errors.Is(err, results.ErrTorn); *torn || !yield(item, err) || err != nil {
				return
			}
		}
	}
}

func (a *app) printSummary(items iter.Seq2[results.Item, error], asJSON bool) error {
	summary, err := results.Summarize(items)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(summary)
	}
	return asOutput(summary.WriteText(a.stdout))
}

// asOutput marks an error of writing to our own output.
func asOutput(err error) error {
	if err != nil {
		return &cli.OutputError{Err: err}
	}
	return nil
}

// reportWriter is how a format of the reports is written.
type reportWriter func(io.Writer, iter.Seq2[results.Item, error], results.Options) error
