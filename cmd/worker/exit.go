package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The exit codes; everything else that goes wrong is exitFailed.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// startError joins everything that keeps a worker from starting.
type startError struct{ problems []error }

// Error has a line for each problem.
func (e *startError) Error() string {
	text := "cannot start:"
	for _, problem := range e.problems {
		text += "\n  - " + strings.ReplaceAll(problem.Error(), "\n", "\n    ")
	}
	return text
}

func (e *startError) Unwrap() []error { return e.problems }

// errDiffers means that worker check has said what it found.
var errDiffers = errors.New("the sandbox is not what was asked for")

func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}

// report writes what an error says.
func report(stderr io.Writer, err error) {
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "worker: %v\n", err)
	}
}
