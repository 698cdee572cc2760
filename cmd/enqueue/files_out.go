package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// outFlags tell where files that come back go.
type outFlags struct {
	dir   string
	force bool
}

func (f *outFlags) folder() cli.Folder {
	return cli.Folder{Path: f.dir, Flag: "--out-dir", Force: f.force}
}

// check refuses a folder that files could not be written to, before a job runs for nothing.
func (f *outFlags) check() error { return f.folder().Check() }

// write stores the files of a result below the folder. One that the user named exactly counts as
// named, and one that only a wildcard matched does not.
func (f *outFlags) write(files []sandbox.File, patterns []string) error {
	return f.folder().Write(files, func(path string) bool { return named(patterns, path) })
}

// unmatched lists the patterns that no file came back for.
func unmatched(result sandbox.Result, patterns []string) []string {
	var without []string
	for _, pattern := range patterns {
		matches := func(name string) bool { return sandbox.MatchPattern(pattern, name) }
		if !slices.ContainsFunc(result.Files, func(f sandbox.File) bool { return matches(f.Path) }) &&
			!slices.ContainsFunc(result.RefusedFiles, func(f sandbox.RefusedFile) bool { return matches(f.Path) }) {
			without = append(without, pattern)
		}
	}
	return without
}

func (f *outFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "out-dir", ".", "`FOLDER` that the files of --out are written to")
	flags.BoolVar(&f.force, "force", false, "let a file that came back by a wildcard replace one that exists, or have a hidden name")
}

// named tells whether one of the patterns is the path itself.
func named(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if pattern == name && !strings.ContainsAny(pattern, `*?[\`) {
			return true
		}
	}
	return false
}
