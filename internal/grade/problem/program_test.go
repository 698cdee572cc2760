package problem_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func languages(t testing.TB) *sandbox.Languages {
	t.Helper()
	row := func(name, file string, compiled bool, extensions ...string) sandbox.Language {
		language := sandbox.Language{Name: name, Image: "i", File: file, Extensions: extensions, Interpreters: []string{name + "-shell"}, Run: []string{"x"}}
		if compiled {
			language.Compile = []string{"cc"}
		}
		return language
	}
	table, err := sandbox.NewLanguages([]sandbox.Language{
		row("python", "main.py", false, ".py"), row("c", "main.c", true, ".c"), row("cpp", "main.cpp", true, ".cpp", ".cc"),
		row("java", "Main.java", true, ".java"), row("node", "main.js", false, ".js"),
	})
	require.NoError(t, err)
	return table
}

func program(paths ...string) problem.Program {
	made := problem.Program{Path: "submissions/accepted/p", Name: "p"}
	for _, path := range paths {
		made.Files = append(made.Files, problem.File{Path: path, Source: path})
	}
	return made
}

func TestTheLanguageOfAProgram(t *testing.T) {
	t.Parallel()
	named := program("a.py")
	named.Language = "javascript"
	unknown := program("a.py")
	unknown.Language = "cobol"
	for name, test := range map[string]struct {
		program problem.Program
		want    string
		err     string
	}{
		"by extension":                {program("a.py"), "python", ""},
		"headers do not matter":       {program("a.cc", "a.h", "data.txt"), "cpp", ""},
		"C in C++":                    {program("a.cpp", "b.c"), "cpp", ""},
		"by name":                     {named, "node", ""},
		"by the first line":           {program("script"), "python", ""},
		"two languages":               {program("a.py", "b.java"), "", "program submissions/accepted/p: files in several languages: java, python"},
		"none":                        {program("a.txt"), "", "program submissions/accepted/p: no file tells its language"},
		"by a name that nobody knows": {unknown, "", `language "cobol" is unknown: want one of c, cpp, java, node, python`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			language, err := test.program.DetectLanguage(languages(t), func(problem.File) []byte { return []byte("#!/usr/bin/env python-shell\n") })
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, language.Name)
		})
	}
	_, err := program("script").DetectLanguage(languages(t), nil)
	require.Error(t, err)
}

func TestTheMainFileOfAProgram(t *testing.T) {
	t.Parallel()
	with := func(entrypoint string, p problem.Program) problem.Program {
		p.Entrypoint = entrypoint
		return p
	}
	for name, test := range map[string]struct {
		language string
		program  problem.Program
		want     string
	}{
		"the only source":         {"python", program("solve.py", "data.txt"), "solve.py"},
		"the language's own":      {"java", program("A.java", "Main.java"), "Main.java"},
		"main":                    {"python", program("a.py", "main.py"), "main.py"},
		"another extension":       {"cpp", program("a.cc", "main.cc"), "main.cc"},
		"the entry point":         {"python", with("a.py", program("a.py", "main.py")), "a.py"},
		"a class as entry point":  {"java", with("pkg.Start", program("Main.java", "pkg/Start.java")), "pkg/Start.java"},
		"any of what is compiled": {"cpp", program("a.cpp", "b.cpp"), "a.cpp"},
		"a file without name":     {"python", program("script"), "script"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			language, err := languages(t).Lookup(test.language)
			require.NoError(t, err)
			main, err := test.program.MainFile(language)
			require.NoError(t, err)
			require.Equal(t, test.want, main)
		})
	}
	python, err := languages(t).Lookup("python")
	require.NoError(t, err)
	_, err = program("a.py", "b.py").MainFile(python)
	require.EqualError(t, err, "program submissions/accepted/p: which file of a.py, b.py is the main one is unknown: want one of main.py, main.py, Main.py, __main__.py")
	_, err = with("c.py", program("a.py", "b.py")).MainFile(python)
	require.Error(t, err)
}

func TestValidatorsOfBothLayouts(t *testing.T) {
	t.Parallel()
	custom := legacyFiles.with(files{"problem.yaml": "validation: custom\n"})
	for name, test := range map[string]struct {
		pkg  files
		want map[string][]string
	}{
		"a file":                  {custom.with(files{"output_validators/v.py": "1"}), map[string][]string{"output_validators/v.py": {"v.py"}}},
		"a folder":                {custom.with(files{"output_validators/v/v.cc": "1", "output_validators/v/v.h": "1"}), map[string][]string{"output_validators/v": {"v.cc", "v.h"}}},
		"a file with its header":  {custom.with(files{"output_validators/v.cc": "1", "output_validators/v.h": "1", "output_validators/README.md": "1"}), map[string][]string{"output_validators/v.cc": {"v.cc", "v.h"}}},
		"several":                 {custom.with(files{"output_validators/a.py": "1", "output_validators/b.py": "1"}), map[string][]string{"output_validators/a.py": {"a.py"}, "output_validators/b.py": {"b.py"}}},
		"with a script":           {custom.with(files{"output_validators/build": "1", "output_validators/x.c": "1"}), map[string][]string{"output_validators": {"build", "x.c"}}},
		"current":                 {currentFiles.with(files{"output_validator/v/v.py": "1"}), map[string][]string{"output_validator/v": {"v.py"}}},
		"a module":                {currentFiles.with(files{"output_validator/__init__.py": "1", "output_validator/__main__.py": "1"}), map[string][]string{"output_validator": {"__init__.py", "__main__.py"}}},
		"current in the old name": {currentFiles.with(files{"output_validators/v.py": "1"}), map[string][]string{"output_validators/v.py": {"v.py"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := load(t, test.pkg)
			require.True(t, p.CustomValidation)
			got := map[string][]string{}
			for _, validator := range p.OutputValidators {
				for _, file := range validator.Files {
					got[validator.Path] = append(got[validator.Path], file.Path)
				}
			}
			require.Equal(t, test.want, got)
			require.Equal(t, name == "with a script", p.OutputValidators[0].HasScript())
		})
	}
}

func TestFaultsOfValidators(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"problem.yaml: asks for custom validation: want an output validator in output_validators"},
		issues(t, legacyFiles.with(files{"problem.yaml": "validation: custom interactive\n"})))
	require.Equal(t, []string{"output_validators: holds 2 programs: want one, which a submission can talk to"},
		issues(t, legacyFiles.with(files{"problem.yaml": "validation: custom interactive\n", "output_validators/a.py": "1", "output_validators/b.py": "1"})))
	require.Equal(t, []string{"output_validator: holds 2 programs: want one"},
		issues(t, currentFiles.with(files{"output_validator/a.py": "1", "output_validator/b.py": "1"})))
	require.Equal(t, []string{"static_validator: static validators are not supported"}, issues(t, currentFiles.with(files{"static_validator/a.py": "1"})))
	p := load(t, legacyFiles.with(files{"output_validators/a.py": "1", "input_format_validators/v.py": "1"}))
	require.Equal(t, []string{"output_validators: is not used: problem.yaml asks for the default validation"}, warnings(p))
	require.Len(t, p.InputValidators, 1)
}

func TestFilesOfASubmission(t *testing.T) {
	t.Parallel()
	tree := currentFiles.with(files{
		"problem.yaml":                     currentFiles["problem.yaml"] + "constants: {n: 7}\n",
		"include/python3/lib.py":           "N = {{n}} {{m}}\n",
		"include/default/readme.txt":       "all",
		"submissions/accepted/sum/lib.py":  "its own",
		"submissions/accepted/sum/main.py": "print({{n}})\n",
	}).fs()
	tree["submissions/accepted/sum/tool"] = &fstest.MapFile{Data: []byte("x"), Mode: fs.FileMode(0o755)}
	p, err := problem.LoadFS(tree, "sum")
	require.NoError(t, err)
	require.Equal(t, "include/python3/lib.py", p.IncludeFor("python", "py")[0].Source)
	require.Equal(t, "include/default/readme.txt", p.IncludeFor("java")[0].Source)

	got, err := p.Files(submission(t, p, "submissions/accepted/sum").Files, p.IncludeFor("python")...)
	require.NoError(t, err)
	require.Equal(t, []sandbox.File{
		{Path: "lib.py", Data: sandbox.Bytes("N = 7 {{m}}\n")}, {Path: "main.py", Data: sandbox.Bytes("print(7)\n")}, {Path: "tool", Data: sandbox.Bytes("x"), Executable: true},
	}, got)
}
