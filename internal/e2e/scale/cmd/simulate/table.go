package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// table is the outcome of a measurement.
type table struct {
	name    string
	columns []string
	rows    [][]string
}

func newTable(name string, columns ...string) *table { return &table{name: name, columns: columns} }

// add adds a row; numbers with a fraction are written by digits.
func (t *table) add(values ...any) {
	row := make([]string, len(values))
	for i, value := range values {
		switch value := value.(type) {
		case float64:
			row[i] = digits(value)
		default:
			row[i] = fmt.Sprint(value)
		}
	}
	t.rows = append(t.rows, row)
}

// digits writes a number with as many digits as mean something.
func digits(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// write stores the table as CSV and shows it.
func (t *table) write(path string, stdout io.Writer) error {
	file, err := os.Create(path) //nolint:gosec // whoever measures names the folder
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := csv.NewWriter(file).WriteAll(append([][]string{t.columns}, t.rows...)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	shown := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{t.columns}, t.rows...) {
		if _, err := fmt.Fprintln(shown, strings.Join(row, "\t")+"\t"); err != nil {
			return err
		}
	}
	if err := shown.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout)
	return err
}
