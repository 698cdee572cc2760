package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// programFlags are what a command line says about the program beside its file.
type programFlags struct {
	language string
	stdin    string
	files    []string
	outputs  []string
	env      []string
	args     []string
	network  bool
	limits   sandbox.Overrides
}

// add registers the flags.
func (f *programFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.language, "language", "l", "", "`NAME` of the language (default: by the file's extension or #! line)")
	addLimitFlags(flags, &f.limits)
	flags.StringVar(&f.stdin, "stdin", "", "`FILE` that the program reads as standard input, - for ours (default: none)")
	flags.StringArrayVar(&f.files, "file", nil, "file or folder to put into the workspace, as `[DEST=]PATH`; repeatable")
	flags.StringArrayVar(&f.outputs, "out", nil, "`PATTERN` of files that come back, such as plot.png or 'out/**'; repeatable")
	flags.StringArrayVar(&f.env, "env", nil, "variable `NAME=VALUE` for the program; repeatable")
	flags.StringArrayVar(&f.args, "arg", nil, "argument `VALUE` of the program; so is everything after --; repeatable")
	flags.BoolVar(&f.network, "network", false, "ask for a network, which the worker may not give")
}

// source is a program's main file as it was named on the command line.
type source struct {
	name string // - for standard input
	data []byte
}

// readSource reads the main file, at most limit bytes of it.
func (a *app) readSource(ctx context.Context, name string, limit int64) (source, error) {
	data, err := a.read(ctx, name, limit)
	if err != nil {
		return source{}, err
	}
	if len(data) == 0 {
		return source{}, usagef("%s: is empty: there is nothing to run", name)
	}
	return source{name: name, data: data}, nil
}

// read reads a file or, for -, standard input, and refuses more than limit bytes.
func (a *app) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, err := cli.Read(ctx, name, a.stdin, limit)
	if errors.Is(err, cli.ErrTooLarge) {
		return nil, usagef("%s: is larger than the %s that a job may send", name, countedSize(limit))
	}
	return data, err
}

// program makes the program of a main file and the flags.
func (f *programFlags) program(ctx context.Context, a *app, languages *sandbox.Languages, main source, maxBytes int64) (sandbox.Program, error) {
	language, err := f.detect(languages, main)
	if err != nil {
		return sandbox.Program{}, err
	}
	env, err := parseEnv(f.env)
	if err != nil {
		return sandbox.Program{}, err
	}
	p := sandbox.Program{
		Language: language.Name, Source: main.data, Main: mainName(language, main.name),
		Args: f.args, Env: env, Outputs: f.outputs, Limits: f.limits, Network: f.network,
	}
	if f.stdin != "" {
		if p.Stdin, err = a.read(ctx, f.stdin, maxBytes); err != nil {
			return sandbox.Program{}, err
		}
	}
	mainPath := p.Main
	if mainPath == "" {
		mainPath = language.File
	}
	collect := &collector{main: main.name, mainPath: mainPath, left: maxBytes}
	for _, spec := range f.files {
		if err := collect.add(spec); err != nil {
			return sandbox.Program{}, usageError(err)
		}
	}
	p.Files = collect.files
	return p, nil
}

// detect finds the language by -l, or else by the file.
func (f *programFlags) detect(languages *sandbox.Languages, main source) (sandbox.Language, error) {
	if f.language != "" {
		language, err := languages.Lookup(f.language)
		if err != nil {
			return sandbox.Language{}, refusal(err)
		}
		return language, nil
	}
	language, found := languages.Detect(main.name, main.data)
	if !found {
		return sandbox.Language{}, usagef("%s: neither its name nor a #! line tells the language: add -l with one of %s",
			main.name, strings.Join(languages.Names(), ", "))
	}
	return language, nil
}

// mainName keeps the file's own name, which the program's messages then show, where the
// language's tools understand it; empty is the language's default.
func mainName(language sandbox.Language, name string) string {
	base := filepath.Base(name)
	for _, extension := range language.Extensions {
		if path.Ext(base) == extension && !strings.HasPrefix(base, "-") {
			return base
		}
	}
	return ""
}

func parseEnv(assignments []string) (map[string]string, error) {
	env := make(map[string]string, len(assignments))
	for _, assignment := range assignments {
		name, value, found := strings.Cut(assignment, "=")
		if !found || name == "" {
			return nil, usagef("--env %q: want NAME=VALUE", assignment)
		}
		env[name] = value
	}
	return env, nil
}

// programArgs splits a command's arguments at --: files before it, the program's own after it.
func programArgs(dash int, args []string) (files, own []string) {
	if dash < 0 {
		return args, nil
	}
	return args[:dash], args[dash:]
}

var errNoFile = errors.New("want the program's file, or - for standard input")

// oneFile checks the arguments of run.
func oneFile(dash int, args []string) error {
	files, _ := programArgs(dash, args)
	switch {
	case len(files) == 0:
		return errNoFile
	case len(files) > 1:
		return fmt.Errorf("%q: want one file; arguments of the program go after --", files[1])
	}
	return nil
}
