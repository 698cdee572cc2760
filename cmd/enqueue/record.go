package main

import (
	"path/filepath"

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
		if err := v.showOutput(a, record, shown); err != nil {
			return &cli.OutputError{Err: err}
		}
		printNotes(a.stderr, result)
		printSessionNotes(a.stderr, record.Session)
		if result.OK {
			for _, pattern := range unmatched(result, v.patterns) {
				say(a.stderr, "--out %s: the program left no such file", pattern)
			}
		}
	}
	code := resultCode(result)
	if err := v.keepFiles(a, record); err != nil {
		report(a.stderr, err)
		if code == 0 {
			code = exitFailure
		}
	}
	if code == 0 {
		return nil
	}
	return exitWith(code, nil)
}

// showOutput prints the program's output, and after it what a live session shows beside it.
func (v recordView) showOutput(a *app, record jobs.Record, shown *output) error {
	if err := shown.finish(record.Result); err != nil {
		return err
	}
	return showLive(a.stdout, record)
}

// keepFiles stores the files that came back, if they are to be stored, and says where the figures are.
func (v recordView) keepFiles(a *app, record jobs.Record) error {
	figures := figuresOf(record)
	if !v.writeFiles {
		if !v.asJSON {
			for _, figure := range figures {
				say(a.stderr, "figure %s (%s) is not written: --out-dir FOLDER writes it", figure.Path, figure.MIME)
			}
		}
		return nil
	}
	files := v.withFreeNames(record.Result.Files, figures)
	if err := v.out.write(files, v.patterns); err != nil {
		return err
	}
	for _, figure := range figures {
		say(a.stderr, "figure %s (%s)", filepath.Join(v.out.dir, figure.Path), figure.MIME)
	}
	return nil
}
