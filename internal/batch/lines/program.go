package lines

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/batch/unit"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// program makes the program of a line, with limits for judging.
func (s *Settings) program(l line) (sandbox.Program, error) {
	name := l.language
	if name == "" {
		name = s.Language
	}
	if name == "" {
		return sandbox.Program{}, errors.New("language: is not given: want it here, or --language for all lines")
	}
	language, err := s.Languages.Lookup(name)
	if err != nil {
		return sandbox.Program{}, fmt.Errorf("language: %.80q is unknown: want one of %s", name, strings.Join(s.Languages.Names(), ", "))
	}
	if (len(l.code) > 0) == (len(l.files) > 0) {
		return sandbox.Program{}, errors.New("code: want either code or files with the submission")
	}
	program := sandbox.Program{
		Language: language.Name, Source: l.code, Main: l.main, Files: sorted(l.files), Args: l.args,
		Env: environment(language, l.env), Limits: s.limits(l.limits),
	}
	if l.unit == nil {
		return program, nil
	}
	return unitProgram(program, *l.unit)
}

// environment has Python buffer its output: what a program printed before a limit ended it is not
// judged, and much output is several times as fast.
func environment(language sandbox.Language, asked map[string]string) map[string]string {
	const unbuffered = "PYTHONUNBUFFERED"
	if language.Env[unbuffered] == "" {
		return asked
	}
	env := map[string]string{unbuffered: ""}
	maps.Copy(env, asked)
	return env
}

// unitProgram makes the program that runs unit tests on a submission.
func unitProgram(submission sandbox.Program, tests unitTests) (sandbox.Program, error) {
	framework := unit.Framework(tests.framework)
	name, err := framework.SubmissionName(submission.Language)
	if err != nil {
		return sandbox.Program{}, fmt.Errorf("unit.%w", err)
	}
	if len(submission.Source) > 0 {
		if submission.Main != "" {
			name = submission.Main
		}
		submission.Files = []sandbox.File{{Path: name, Data: submission.Source}}
	}
	testName, err := framework.TestName(submission.Language)
	if err != nil {
		return sandbox.Program{}, fmt.Errorf("unit.%w", err)
	}
	if tests.main != "" {
		testName = tests.main
	}
	files := sorted(tests.files)
	if len(tests.code) > 0 {
		files = []sandbox.File{{Path: testName, Data: tests.code}}
	}
	first := func(file sandbox.File) bool { return file.Path == testName }
	if at := slices.IndexFunc(files, first); at >= 0 {
		files = slices.Concat(files[at:at+1], files[:at], files[at+1:])
	} else if framework == unit.Exit || tests.main != "" {
		return sandbox.Program{}, fmt.Errorf("unit.main: no file is named %q: want one of unit.files", testName)
	}
	program, err := framework.Program(submission, files)
	if err != nil {
		return sandbox.Program{}, fmt.Errorf("unit.%w", err)
	}
	return program, nil
}

func sorted(files fileMap) (list []sandbox.File) {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		list = append(list, sandbox.File{Path: path, Data: files[path]})
	}
	return list
}
