package main

import (
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
)

// recordView says how a finished job is shown.
type recordView struct {
	out      *outFlags
	patterns []string
	asJSON   bool
	// writeFiles stores the files that came back.
	writeFiles bool
}

// show prints a finished job and returns the error that carries its exit code.
func (v recordView) show(a *app, record jobs.Record, shown *output) error {
	result := record.Result
	if v.asJSON {
		if err := a.printJSON(record); err != nil {
			return err
		}
	} else {
		if err := shown.finish(result); err != nil {
			return &cli.OutputError{Err: err}
		}
		printNotes(a.stderr, result)
		if result.OK {
			for _, pattern := range unmatched(result, v.patterns) {
				say(a.stderr, "--out %s: the program left no such file", pattern)
			}
		}
	}
	code := resultCode(result)
	if v.writeFiles {
		if err := v.out.write(result.Files, v.patterns); err != nil {
			report(a.stderr, err)
			if code == 0 {
				code = exitFailure
			}
		}
	}
	if code == 0 {
		return nil
	}
	return exitWith(code, nil)
}
