package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// languageLine is a language as languages --json has it.
type languageLine struct {
	Name       string   `json:"name"`
	Aliases    []string `json:"aliases"`
	Extensions []string `json:"extensions"`
	Image      string   `json:"image"`
	Compiled   bool     `json:"compiled"`
}

func newLanguagesCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "languages", Short: "List the languages that programs can be in", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.settings(cmd)
			if err != nil {
				return err
			}
			var lines []languageLine
			for _, row := range s.languages.All() {
				lines = append(lines, languageLine{row.Name, row.Aliases, row.Extensions, row.Image, len(row.Compile) > 0})
			}
			if asJSON {
				return a.printJSON(lines)
			}
			table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			_, _ = fmt.Fprintln(table, "LANGUAGE\tALIASES\tEXTENSIONS\tIMAGE")
			for _, line := range lines {
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", line.Name, orDash(line.Aliases), orDash(line.Extensions), line.Image)
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func orDash(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}
