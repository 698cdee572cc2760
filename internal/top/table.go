package top

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/sandloop/sandloop/internal/cli"
)

// line is one line of a frame.
type line struct {
	text  string
	style style
}

type style int

const (
	plain style = iota
	heading
	selected
	warning
)

// table lays out rows below headings. Columns whose heading begins with a space hold numbers and stand to the right. The last column is not filled up.
func table(headings []string, rows [][]string, chosen int) []line {
	widths := make([]int, len(headings))
	for i, name := range headings {
		widths[i] = ansi.StringWidth(strings.TrimSpace(name))
	}
	safe := make([][]string, len(rows))
	for i, row := range rows {
		for column, cell := range row {
			cell = cli.Printable(cell)
			safe[i] = append(safe[i], cell)
			widths[column] = max(widths[column], ansi.StringWidth(cell))
		}
	}
	layOut := func(cells []string) string {
		var out strings.Builder
		for i, cell := range cells {
			if i > 0 {
				out.WriteString("  ")
			}
			space := strings.Repeat(" ", widths[i]-ansi.StringWidth(cell))
			if strings.HasPrefix(headings[i], " ") {
				out.WriteString(space)
				space = ""
			}
			out.WriteString(cell + space)
		}
		return strings.TrimRight(out.String(), " ")
	}
	names := make([]string, len(headings))
	for i, name := range headings {
		names[i] = strings.TrimSpace(name)
	}
	lines := []line{{layOut(names), heading}}
	for i, row := range safe {
		row := line{text: layOut(row)}
		if i == chosen {
			row.style = selected
		}
		lines = append(lines, row)
	}
	return lines
}
