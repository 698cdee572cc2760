package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandloop/sandloop/internal/grade/problem"
	"github.com/sandloop/sandloop/internal/submissions"
)

func newProblemCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "problem", Short: "Look at a problem package and check what its own submissions get",
		Long: `problem reads packages of the ICPC and Kattis format: legacy, 2023-07 and 2025-09, with the additions of
DOMjudge. A package is a folder or a zip archive.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newProblemCheckCommand(a), newProblemShowCommand(a))
	return cmd
}

// loadProblem reads a package from a folder or a zip archive, and shows its warnings. What is wrong with it is an
// error with a line for each thing. The function it returns closes the package.
func (a *app) loadProblem(name string) (*problem.Problem, func(), error) {
	loaded, closeProblem, err := openProblem(name)
	if err != nil {
		return nil, nil, usageError(inPackage(name, err))
	}
	a.showIssues(name, loaded.Warnings)
	return loaded, closeProblem, nil
}

func (a *app) showIssues(name string, issues []problem.Issue) {
	for _, issue := range issues {
		say(a.stderr, "%s: warning: %s", name, issue)
	}
}

// inPackage puts the package's name before each line of what is wrong with it.
func inPackage(name string, err error) error {
	var invalid *problem.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	var lines []string
	for _, line := range strings.Split(invalid.Error(), "\n") {
		lines = append(lines, name+": "+line)
	}
	return errors.New(strings.Join(lines, "\n"))
}

func openProblem(name string) (*problem.Problem, func(), error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		loaded, err := problem.Load(name)
		if err != nil {
			return nil, nil, err
		}
		return loaded, func() { _ = loaded.Close() }, nil
	}
	files, archive, err := submissions.OpenZip(name)
	if err != nil {
		return nil, nil, err
	}
	shortName := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	loaded, err := problem.LoadFS(packageRoot(files, &shortName), shortName)
	if err != nil {
		return nil, nil, errors.Join(err, archive.Close())
	}
	return loaded, func() { _ = errors.Join(loaded.Close(), archive.Close()) }, nil
}

// packageRoot looks into the one folder of an archive that holds nothing else, and takes its name for the problem's.
func packageRoot(files fs.FS, shortName *string) fs.FS {
	root, err := files.Open(".")
	if err != nil {
		return files
	}
	defer func() { _ = root.Close() }()
	listing, ok := root.(fs.ReadDirFile)
	if !ok {
		return files
	}
	// Two names are enough to know.
	entries, err := listing.ReadDir(2)
	if err != nil && !errors.Is(err, io.EOF) || len(entries) != 1 || !entries[0].IsDir() {
		return files
	}
	inner, err := fs.Sub(files, entries[0].Name())
	if err != nil {
		return files
	}
	*shortName = entries[0].Name()
	return inner
}
