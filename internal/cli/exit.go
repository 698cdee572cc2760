package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// The exit codes that every program of ours has.
const (
	ExitUsage       = 2   // bad command line
	ExitFailure     = 125 // our own failure, as docker run has it
	ExitInterrupted = 130 // Ctrl-C
	ExitBrokenPipe  = 141 // 128 + SIGPIPE: the reader of our output went away
)

// exitError carries an exit code; err is nil when all that matters has been said.
type exitError struct {
	code int
	err  error
}

// Error returns the message, empty when there is nothing to say.
func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// ExitWith returns an error with which a program ends with a code. err is nil when all that matters
// has been said.
func ExitWith(code int, err error) error { return &exitError{code, err} }

// UsageError makes an error one that the user has to mend: ExitUsage.
func UsageError(err error) error { return ExitWith(ExitUsage, err) }

// Usagef is UsageError of a new error.
func Usagef(format string, args ...any) error { return UsageError(fmt.Errorf(format, args...)) }

// OutputError means that our own output could not be written. Err is EPIPE when the reader went away.
type OutputError struct{ Err error }

// Error says what happened.
func (e *OutputError) Error() string { return "write output: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// ExitCode is what a process ends with after its command returned err.
func ExitCode(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, syscall.EPIPE):
		return ExitBrokenPipe
	}
	return ExitFailure
}

// Report writes what an error says, each line marked with the program's name.
func Report(stderr io.Writer, program string, err error) {
	if err == nil || ExitCode(err) == ExitBrokenPipe {
		return
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		if line != "" {
			Say(stderr, program, "%s", line)
		}
	}
}

// Say writes one line in the program's name. Text from a sandbox may be in it.
func Say(stderr io.Writer, program, format string, args ...any) {
	_, _ = fmt.Fprintf(stderr, "%s: %s\n", program, Printable(fmt.Sprintf(format, args...)))
}
