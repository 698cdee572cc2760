package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText writes the summary as a table for a terminal. Nothing in it is a submission's own text.
func (s *Summary) WriteText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "VERDICT\tITEMS\tSHARE\t")
	for _, verdict := range presentVerdicts(s.Verdicts) {
		n := s.Verdicts[verdict]
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t  %s\n", verdict, thousands(n), percent(n, s.Items), verdictName(verdict))
	}
	_, _ = fmt.Fprintf(table, "all\t%s\t\t\n", thousands(s.Items))
	if err := table.Flush(); err != nil {
		return err
	}
	list := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(list)
	for _, figure := range s.figures() {
		if _, err := fmt.Fprintf(list, "%s\t%s\n", figure.Label, figure.Value); err != nil {
			return err
		}
	}
	return list.Flush()
}
