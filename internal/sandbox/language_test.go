package sandbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func rows() []sandbox.Language {
	return []sandbox.Language{
		{
			Name: "python", Aliases: []string{"py", "python3"}, Extensions: []string{".py"}, Interpreters: []string{"python3", "python"},
			Image: "core", File: "main.py", Run: []string{"python3", "{file}"}, Env: map[string]string{"OMP_NUM_THREADS": "{cpus}", "LANG": "C.UTF-8"},
		},
		{
			Name: "cpp", Extensions: []string{".cpp", ".cc"}, Image: "core", File: "main.cpp", HeapFraction: 0.75,
			Compile: []string{"g++", "-o", "{out}", "{files}"}, Run: []string{"{out}"}, Env: map[string]string{"HEAP": "{heap_mb} of {memory_mb}"},
			Floors: sandbox.Floors{Memory: 512 * sandbox.MiB, PIDs: 100, CPUs: 1, CompileTime: time.Minute},
		},
	}
}

func table(t *testing.T) *sandbox.Languages {
	t.Helper()
	languages, err := sandbox.NewLanguages(rows())
	require.NoError(t, err)
	return languages
}

func TestLookup(t *testing.T) {
	t.Parallel()
	languages := table(t)
	require.Equal(t, []string{"cpp", "python"}, languages.Names())
	for _, name := range []string{"python", "py", "python3"} {
		row, err := languages.Lookup(name)
		require.NoError(t, err)
		require.Equal(t, "python", row.Name)
	}
	_, err := languages.Lookup("cobol")
	var unknown *sandbox.UnknownLanguageError
	require.ErrorAs(t, err, &unknown)
	require.EqualError(t, err, `language "cobol" is unknown: want one of cpp, python`)
}

func TestRowsThatClaimTheSameAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sandbox.Language){
		"name":        func(l *sandbox.Language) { l.Name = "py" },
		"alias":       func(l *sandbox.Language) { l.Aliases = []string{"python"} },
		"extension":   func(l *sandbox.Language) { l.Extensions = []string{".py"} },
		"interpreter": func(l *sandbox.Language) { l.Interpreters = []string{"python"} },
	} {
		two := rows()
		change(&two[1])
		_, err := sandbox.NewLanguages(two)
		require.ErrorContains(t, err, "both have the", name)
	}
	for name, change := range map[string]func(*sandbox.Language){
		"no name":  func(l *sandbox.Language) { l.Name = "" },
		"no image": func(l *sandbox.Language) { l.Image = "" },
		"no file":  func(l *sandbox.Language) { l.File = "" },
		"no run":   func(l *sandbox.Language) { l.Run = nil },
	} {
		two := rows()
		change(&two[1])
		_, err := sandbox.NewLanguages(two)
		require.ErrorContains(t, err, "must be set", name)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	languages := table(t)
	for _, test := range []struct{ name, content, want string }{
		{"a.py", "", "python"},
		{"dir.cpp/a.cc", "", "cpp"},
		{"script", "#!/usr/bin/python3\n", "python"},
		{"script", "#!/usr/bin/env python3\n", "python"},
		{"script", "#! /usr/bin/env -S python3 -u\nx", "python"},
		{"script", "#!/usr/bin/env A=1 python\r\n", "python"},
		{"a.py", "#!/bin/sh\n", "python"}, // the extension goes first
		{"script", "#!/bin/sh\n", ""},
		{"script", "#!", ""},
		{"script", "#!/usr/bin/env\n", ""},
		{"script", "", ""},
		{"script", "python3", ""},
		{"a.txt", "print(1)", ""},
		{".py", "", "python"},
	} {
		row, found := languages.Detect(test.name, []byte(test.content))
		require.Equal(t, test.want != "", found, "%s %q", test.name, test.content)
		require.Equal(t, test.want, row.Name, "%s %q", test.name, test.content)
	}
}

func TestPlanFillsPlaceholders(t *testing.T) {
	t.Parallel()
	limits := sandbox.DefaultLimits() // 256 MiB, half a processor
	plan := rows()[1].Plan(sandbox.Program{
		Source: sandbox.Bytes("x"), Args: []string{"{file}", "two words"},
		Files: []sandbox.File{{Path: "lib.cc"}, {Path: "data.txt"}, {Path: "main.cpp"}, {Path: "sub dir/more.cpp"}},
	}, limits)
	require.Equal(t, sandbox.Plan{
		Compile: []string{"g++", "-o", "./.sandloop-out", "main.cpp", "lib.cc", "sub dir/more.cpp"},
		Run:     []string{"./.sandloop-out", "{file}", "two words"},
		Env:     []string{"HEAP=192 of 256"},
		Main:    "main.cpp",
	}, plan)

	limits.CPUs = 2.5
	plan = rows()[0].Plan(sandbox.Program{Main: "app/x.py", Env: map[string]string{"LANG": "{cpus}", "A": "b"}}, limits)
	require.Equal(t, sandbox.Plan{
		Run: []string{"python3", "app/x.py"}, Env: []string{"A=b", "LANG={cpus}", "OMP_NUM_THREADS=3"}, Main: "app/x.py",
	}, plan)
}

func TestHalfAProcessorIsOneThread(t *testing.T) {
	t.Parallel()
	plan := rows()[0].Plan(sandbox.Program{}, sandbox.DefaultLimits())
	require.Equal(t, []string{"LANG=C.UTF-8", "OMP_NUM_THREADS=1"}, plan.Env)
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	defaults, maxima := sandbox.DefaultLimits(), sandbox.DefaultMaxima()
	prepared, err := table(t).Prepare(sandbox.Program{Language: "cpp", Source: sandbox.Bytes("int main(){}"), Files: []sandbox.File{{Path: "h.h"}}}, defaults, maxima)
	require.NoError(t, err)
	require.Equal(t, []sandbox.File{{Path: "main.cpp", Data: sandbox.Bytes("int main(){}")}, {Path: "h.h"}}, prepared.Files)
	require.Equal(t, 512*sandbox.MiB, prepared.Limits.Memory)
	require.Equal(t, 100, prepared.Limits.PIDs)
	require.InDelta(t, 1.0, prepared.Limits.CPUs, 0)
	require.Equal(t, time.Minute, prepared.Limits.CompileTime)

	prepared, err = table(t).Prepare(sandbox.Program{Language: "py", Main: "b.py", Files: []sandbox.File{{Path: "a.py"}, {Path: "b.py"}}}, defaults, maxima)
	require.NoError(t, err)
	require.Equal(t, []string{"python3", "b.py"}, prepared.Plan.Run)
	require.Equal(t, defaults, prepared.Limits)
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	small := sandbox.DefaultMaxima()
	small.Memory = 256 * sandbox.MiB
	for name, test := range map[string]struct {
		program sandbox.Program
		maxima  sandbox.Limits
		want    string
	}{
		"unknown language": {sandbox.Program{Language: "cobol", Source: sandbox.Bytes("x")}, sandbox.DefaultMaxima(), "is unknown"},
		"limit":            {sandbox.Program{Language: "py", Source: sandbox.Bytes("x"), Limits: sandbox.Overrides{PIDs: ptr(0)}}, sandbox.DefaultMaxima(), "limits.pids"},
		"floor":            {sandbox.Program{Language: "cpp", Source: sandbox.Bytes("x")}, small, "language cpp needs 536870912 bytes"},
		"no main file":     {sandbox.Program{Language: "py", Files: []sandbox.File{{Path: "x.py"}}}, sandbox.DefaultMaxima(), `no file is named "main.py"`},
		"main file twice":  {sandbox.Program{Language: "py", Source: sandbox.Bytes("x"), Files: []sandbox.File{{Path: "main.py"}}}, sandbox.DefaultMaxima(), "both as source and as a file"},
		"nothing":          {sandbox.Program{Language: "py"}, sandbox.DefaultMaxima(), "source: is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := table(t).Prepare(test.program, sandbox.DefaultLimits(), test.maxima)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestOutcomesAreAllDifferent(t *testing.T) {
	t.Parallel()
	seen := map[sandbox.Outcome]bool{}
	for _, outcome := range sandbox.Outcomes() {
		require.False(t, seen[outcome], outcome)
		seen[outcome] = true
	}
	require.Len(t, seen, 13)
}
