package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/sandloop/sandloop/internal/cli"
)

// style is how something stands out on a terminal.
type style string

// The styles, as parameters of the SGR sequence.
const (
	plain  style = ""
	strong style = "1"
	faint  style = "2"
	good   style = "32"
	bad    style = "31"
	notice style = "33"
)

// palette paints text on a terminal and leaves it as it is elsewhere.
type palette struct{ on bool }

// newPalette follows NO_COLOR: any value turns colours off.
func newPalette(w io.Writer, getenv func(string) string) palette {
	return palette{cli.IsTerminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

func (p palette) paint(s style, text string) string {
	if !p.on || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// defaultWidth is for a terminal that does not tell.
const defaultWidth = 80

// terminalWidth is how many characters a line of w has.
func terminalWidth(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultWidth
}
