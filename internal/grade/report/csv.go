package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
)

var csvColumns = []string{
	"index", "id", "group", "language", "verdict", "score", "previous_verdict", "expected", "unexpected",
	"passed", "tests", "cpu_seconds", "wall_seconds", "peak_memory_bytes", "slowest", "message", "attempts", "finished_at",
}

// WriteCSV writes a row for each item below a row of column names, as RFC 4180 has it with line
// feeds. A cell with text that a spreadsheet could take for a formula begins with an apostrophe.
// It ranges over the items once and stops at their first error, which it returns.
func WriteCSV(w io.Writer, items iter.Seq2[Item, error], _ Options) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvColumns); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for item, err := range items {
		if err != nil {
			return err
		}
		if err = out.Write(csvRow(item)); err != nil {
			return fmt.Errorf("write CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func csvRow(item Item) []string {
	previous := ""
	if item.Previous != nil {
		previous = string(item.Previous.Verdict)
	}
	expected := make([]string, len(item.Expected))
	for i, verdict := range item.Expected {
		expected[i] = string(verdict)
	}
	finished := ""
	if !item.FinishedAt.IsZero() {
		finished = item.FinishedAt.UTC().Format(time.RFC3339)
	}
	return []string{
		strconv.Itoa(item.Index), csvText(item.ID), csvText(item.Group), csvText(item.Language),
		csvText(string(item.Verdict)), number(item.Score), csvText(previous), csvText(strings.Join(expected, " ")),
		strconv.FormatBool(item.Unexpected), strconv.Itoa(passed(item)), strconv.Itoa(len(item.Tests)),
		seconds(item.CPUTime), seconds(item.WallTime), strconv.FormatInt(item.PeakMemory, 10),
		csvText(item.Slowest), csvText(item.Message), strconv.Itoa(item.Attempts), finished,
	}
}

// csvText disarms text: spreadsheets run a cell that begins with one of these characters as
// a formula, some after leaving out the white space before it.
func csvText(text string) string {
	text = legible(text)
	if start := strings.TrimLeft(text, " \u00a0\u3000\ufeff"); start != "" && strings.ContainsAny(start[:1], "=+-@\t\n") ||
		strings.IndexAny(start, "＝＋－＠␍") == 0 {
		return "'" + text
	}
	return text
}

// number is a score without an exponent, and nothing for none.
func number(score *float64) string {
	if score == nil {
		return ""
	}
	return strconv.FormatFloat(*score, 'f', -1, 64)
}

// passed counts the tests that were accepted.
func passed(item Item) int {
	count := 0
	for _, test := range item.Tests {
		if test.Verdict == grade.AC {
			count++
		}
	}
	return count
}
