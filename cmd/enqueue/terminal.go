package main

import (
	"io"

	"github.com/sandloop/sandloop/internal/cli"
)

// forProgram returns the writer for output of a program: w itself for a pipe or a file,
// and one that disarms control sequences when w is a terminal, which obeys them.
func forProgram(w io.Writer) io.Writer {
	if cli.IsTerminal(w) {
		return cli.NewDisarmer(w)
	}
	return w
}
