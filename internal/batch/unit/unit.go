// Package unit makes programs that run unit tests on a submission and report them as
// grade.CheckUnit wants it: a driver for pytest, for node:test, and for test files that simply run.
//
// Its one invariant: a driver reads its nonce before any code of the submission runs. Tests and
// submission share a process all the same, or at least a user, so that a hostile submission can
// forge the report. Only a test of input and output cannot be cheated. It imports internal/sandbox alone.
package unit

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Framework says who runs the tests.
type Framework string

// The frameworks.
const (
	// Pytest is for python. The image must have it.
	Pytest Framework = "pytest"
	// NodeTest is for node, which brings it from version 18.9 on.
	NodeTest Framework = "node:test"
	// Exit runs one test file, for python and node: it passes when it ends without an exception.
	Exit Framework = "exit"
)

// Frameworks lists all of them.
func Frameworks() []Framework { return []Framework{Pytest, NodeTest, Exit} }

//go:embed driver
var drivers embed.FS

// kind is what there is for one framework in one language.
type kind struct {
	driver string
	// submission and test are the names of files that are given without one.
	submission, test string
	// tests matches the files that hold tests; nil is the first one alone.
	tests *regexp.Regexp
}

var kinds = map[Framework]map[string]kind{
	Pytest:   {"python": {"pytest.py", "solution.py", "test_solution.py", regexp.MustCompile(`^(test_.*|.*_test)\.py$`)}},
	NodeTest: {"node": {"node_test.cjs", "solution.js", "solution.test.js", regexp.MustCompile(`^(test|test-.*|.*[.\-_]test)\.[cm]?js$`)}},
	Exit: {
		"python": {"exit.py", "solution.py", "test_solution.py", nil},
		"node":   {"exit.cjs", "solution.js", "solution.test.js", nil},
	},
}

func (f Framework) kind(language string) (kind, error) {
	languages, known := kinds[f]
	if !known {
		return kind{}, fmt.Errorf("framework: %q is unknown: want one of %q", string(f), Frameworks())
	}
	found, known := languages[language]
	if !known {
		var names []string
		for name := range languages {
			names = append(names, name)
		}
		slices.Sort(names)
		return kind{}, fmt.Errorf("framework: %q does not run %s: want the language %s, or code and tests in one program that exits with 0", string(f), language, strings.Join(names, " or "))
	}
	return found, nil
}

// SubmissionName is the file that a submission without a name of its own becomes, such as
// solution.py, from which tests import it. TestName is the same for the tests.
func (f Framework) SubmissionName(language string) (string, error) {
	found, err := f.kind(language)
	return found.submission, err
}

// TestName is the name of a test file that has none.
func (f Framework) TestName(language string) (string, error) {
	found, err := f.kind(language)
	return found.test, err
}

// Program makes of a submission, all in its Files, the program that runs tests on it. The first test file is
// the one that Exit runs. Language is the row's name. The submission's Main, Source, Args and Stdin are not used.
func (f Framework) Program(submission sandbox.Program, tests []sandbox.File) (sandbox.Program, error) {
	found, err := f.kind(submission.Language)
	if err != nil {
		return sandbox.Program{}, err
	}
	args, err := found.args(tests)
	if err != nil {
		return sandbox.Program{}, err
	}
	driver, err := drivers.ReadFile("driver/" + found.driver)
	if err != nil {
		panic(err) // it is embedded
	}
	program := submission
	program.Main, program.Source, program.Stdin, program.Args = ".sandloop-"+found.driver, nil, nil, args
	program.Files = slices.Concat([]sandbox.File{{Path: program.Main, Data: driver}}, submission.Files, tests)
	for _, file := range submission.Files {
		if slices.ContainsFunc(tests, func(test sandbox.File) bool { return test.Path == file.Path }) {
			return sandbox.Program{}, fmt.Errorf("files: %q is a file of the submission and of its tests: want another name", file.Path)
		}
	}
	return program, nil
}

// args are the driver's: the files that hold tests, for Exit with the others of the tests behind.
func (k kind) args(tests []sandbox.File) (args []string, err error) {
	for _, test := range tests {
		if k.tests == nil || k.tests.MatchString(path.Base(test.Path)) {
			args = append(args, test.Path)
		}
	}
	switch {
	case len(tests) == 0:
		return nil, errors.New("files: there are none: want a file with tests")
	case len(args) == 0:
		return nil, fmt.Errorf("files: none is named like a file with tests: want one such as %q", k.test)
	}
	return args, nil
}
