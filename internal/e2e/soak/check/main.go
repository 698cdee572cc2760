// Command check reads the history of a soak, prints its figures and every promise that was not kept.
//
// It exits with 0 when all were, with 1 when one was not, and with 2 when the history cannot be read.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/sandloop/sandloop/internal/e2e/soak"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: check HISTORY")
		return 2
	}
	events, err := soak.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	violations, figures := soak.Check(events)
	fmt.Fprint(stdout, figures)
	for _, violation := range violations {
		fmt.Fprintln(stdout, violation)
	}
	if len(violations) > 0 {
		fmt.Fprintf(stdout, "%d promises were not kept\n", len(violations))
		return 1
	}
	fmt.Fprintln(stdout, "every promise was kept")
	return 0
}
