package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/jobs"
)

// deadErrorWidth is how many characters of an error stand in a table.
const deadErrorWidth = 80

func newDeadListCommand(a *app) *cobra.Command {
	var f deadFlags
	limit := 100
	cmd := &cobra.Command{
		Use: "list", Short: "List dead letters, the latest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter(cmd.Flags())
			if err != nil {
				return err
			}
			if limit < 0 {
				return usagef("--limit: %d: want at least 0", limit)
			}
			return a.withClient(cmd, func(ctx context.Context, client *jobs.Client) error {
				letters, more, err := someDead(ctx, client, filter, limit)
				if err != nil {
					return err
				}
				if f.asJSON {
					err = printLines(a, letters)
				} else {
					err = a.printDead(letters)
				}
				if more {
					say(a.stderr, "these are the latest %d: --limit 0 lists all", limit)
				}
				return err
			})
		},
	}
	f.addFilter(cmd)
	cmd.Flags().IntVar(&limit, "limit", limit, "list the latest `N`; 0 for all")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print a line of JSON for each, with all attempts")
	return cmd
}

// someDead reads at most limit dead letters, all when 0, and tells whether there are more.
func someDead(ctx context.Context, client *jobs.Client, filter jobs.DeadFilter, limit int) (letters []jobs.DeadLetter, more bool, err error) {
	for letter, err := range client.DeadLetters(ctx, filter) {
		switch {
		case err != nil:
			return nil, false, err
		case limit > 0 && len(letters) == limit:
			return letters, true, nil
		}
		letters = append(letters, letter)
	}
	return letters, false, nil
}

func (a *app) printDead(letters []jobs.DeadLetter) error {
	if len(letters) == 0 {
		say(a.stderr, "there are no dead letters")
		return nil
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "JOB\tTENANT\tQUEUE\tLANGUAGE\tGIVEN UP\tATTEMPTS\tLAST ERROR")
	for _, letter := range letters {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", letter.ID, cellOf(letter.Tenant), letter.Queue, cellOf(letter.Language),
			localTime(letter.DiedAt), len(letter.Attempts), shortened(printable(letter.Error), deadErrorWidth))
	}
	return table.Flush()
}

// cellOf makes text from elsewhere safe to show as a cell of a table.
func cellOf(text string) string {
	if text == "" {
		return "-"
	}
	return printable(text)
}

// shortened cuts text after so many characters.
func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
