package lines

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Settings are what lines leave open, and what they may ask for.
type Settings struct {
	Languages *sandbox.Languages
	// Defaults and Maxima are the installation's.
	Defaults, Maxima sandbox.Limits
	// Language is that of lines that name none; empty has each name one.
	Language string
	// Limits are those of lines that name none.
	Limits sandbox.Overrides
	// Mode and KeepOutput are as in grade.Task.
	Mode       grade.Mode
	KeepOutput int
	// BodyLimit is the size in bytes of the largest job in JSON.
	BodyLimit int
}

const maxNameBytes = 512

// entry makes an entry of a line. The error joins one sentence for each field that is wrong.
func (s *Settings) entry(data []byte) (batch.Entry, error) {
	l, errs := decode(data)
	if len(errs) > 0 {
		return batch.Entry{ID: string(l.id)}, errors.Join(errs...)
	}
	entry := batch.Entry{ID: string(l.id), Group: l.group, Expected: l.expect}
	errs = append(errs, checkName("id", entry.ID, true), checkName("group", l.group, false))
	program, err := s.program(l)
	if err != nil {
		return entry, errors.Join(append(errs, err)...)
	}
	prepared, err := s.Languages.Prepare(program, s.Defaults, s.Maxima)
	if err != nil {
		return entry, errors.Join(append(errs, err)...)
	}
	suite := &grade.Suite{Checker: l.checker}
	for i, t := range l.tests {
		made := grade.Test{Name: t.name, Input: grade.Data{Inline: t.stdin}, Args: t.args, Tokens: l.tokens}
		if t.expected != nil {
			made.Answer.Inline = *t.expected
		}
		for _, file := range sorted(t.files) {
			made.Files = append(made.Files, grade.DataFile{Path: file.Path, Data: grade.Data{Inline: file.Data}})
		}
		suite.Tests = append(suite.Tests, made)
		given := sandbox.Test{Stdin: t.stdin, Args: t.args, Files: sorted(t.files)}
		if _, err := given.Resolve(prepared.Limits, s.Maxima); err != nil {
			errs = append(errs, fmt.Errorf("tests[%d]: %w", i, err))
		}
	}
	entry.Job = jobs.Job{Program: program, Grade: &grade.Task{Suite: suite, Mode: s.Mode, KeepOutput: s.KeepOutput}}
	if err := entry.Job.Grade.Validate(); err != nil {
		errs = append(errs, errors.New(strings.ReplaceAll(err.Error(), "suite.", "")))
	}
	return entry, errors.Join(errs...)
}

// checkName refuses what would not be seen in a table.
func checkName(field, name string, needed bool) error {
	switch {
	case needed && name == "":
		return fmt.Errorf("%s: is not given: want a name that no other line has", field)
	case len(name) > maxNameBytes:
		return fmt.Errorf("%s: is %d bytes: want at most %d", field, len(name), maxNameBytes)
	case !utf8.ValidString(name):
		return fmt.Errorf("%s: %.80q is not UTF-8", field, name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%s: %.80q holds the unprintable character %U", field, name, r)
		}
	}
	return nil
}
