package main

import (
	"fmt"
	"iter"

	"github.com/sandloop/sandloop/internal/cli"
	results "github.com/sandloop/sandloop/internal/grade/report"
)

// printChanges lists the verdicts and scores that are not what they were, and counts what was done for it.
func (a *app) printChanges(items iter.Seq2[results.Item, error], unseen int) error {
	changed, anew, old := 0, 0, 0
	for item, err := range items {
		if err != nil {
			return err
		}
		if item.Previous == nil {
			continue
		}
		old++
		anew += item.Previous.Rejudged
		before, after := verdictAndScore(*item.Previous), verdictAndScore(results.Previous{Verdict: item.Verdict, Score: item.Score})
		if before == after {
			continue
		}
		changed++
		line := fmt.Sprintf("%s: %s -> %s%s", item.ID, before, after, why(item.Message))
		if _, err := fmt.Fprintln(a.stdout, printable(line)); err != nil {
			return &cli.OutputError{Err: err}
		}
	}
	say(a.stderr, "%d of %d old results changed; tests judged anew: %d", changed, old, anew)
	if unseen > 0 {
		say(a.stderr, "old results of submissions that are not here: %d", unseen)
	}
	return nil
}

func verdictAndScore(result results.Previous) string {
	if result.Score == nil {
		return result.Verdict.String()
	}
	return fmt.Sprintf("%s %g", result.Verdict, *result.Score)
}
