package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	results "github.com/sandloop/sandloop/internal/grade/report"
)

// reportFiles are the reports that are asked for: a path each, "-" for the standard output, or
// nothing.
type reportFiles struct {
	csv, junit, html string
	title            string
}

func (f *reportFiles) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.csv, "csv", "", "write a table for spreadsheets to `FILE`")
	flags.StringVar(&f.junit, "junit", "", "write JUnit XML, as CI systems read it, to `FILE`")
	flags.StringVar(&f.html, "html", "", "write a web page with plots, which needs no other file, to `FILE`")
	flags.StringVar(&f.title, "title", "", "`HEADING` of the reports (default: Batch results)")
}

// reportFile is one of them.
type reportFile struct {
	flag, path string
	write      reportWriter
}

func (f *reportFiles) list() []reportFile {
	var list []reportFile
	for _, file := range []reportFile{
		{"--csv", f.csv, results.WriteCSV}, {"--junit", f.junit, results.WriteJUnit}, {"--html", f.html, results.WriteHTML},
	} {
		if file.path != "" {
			list = append(list, file)
		}
	}
	return list
}

func (f *reportFiles) any() bool { return len(f.list()) > 0 }

// check refuses what cannot work before a batch runs for it: one file for two things, above all for the
// results and a report of them, and a folder that is not there.
func (f *reportFiles) check(resultsPath string) error {
	taken := map[string]string{realPath(resultsPath): "the results"}
	for _, file := range f.list() {
		if other, twice := taken[realPath(file.path)]; twice {
			return usagef("%s %s: want another file than that of %s", file.flag, file.path, other)
		}
		taken[realPath(file.path)] = file.flag
		if file.path == "-" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(file.path)); err != nil || !info.IsDir() {
			return usagef("%s %s: there is no folder %s", file.flag, file.path, filepath.Dir(file.path))
		}
		if info, err := os.Stat(file.path); err == nil && info.IsDir() {
			return usagef("%s %s: want a file and not a folder", file.flag, file.path)
		}
	}
	return nil
}

// realPath is the path by which the same file is known as the same.
func realPath(path string) string {
	if path == "-" {
		return path
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// write writes all reports, each in passes of its own over the items.
func (f *reportFiles) write(stdout io.Writer, items iter.Seq2[results.Item, error]) error {
	for _, file := range f.list() {
		content := func(w io.Writer) error { return file.write(w, items, results.Options{Title: f.title}) }
		var err error
		if file.path == "-" {
			err = content(stdout)
		} else {
			err = writeWhole(file.path, content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.flag, err)
		}
	}
	return nil
}

// writeWhole replaces a file so that nobody sees half of it, and leaves what was there when content
// fails. Where a link leads it follows it; a device or a pipe it writes to.
func writeWhole(path string, content func(io.Writer) error) (err error) {
	if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // the user's own choice
		if err != nil {
			return err
		}
		return errors.Join(content(file), file.Close())
	}
	path = realPath(path)
	part := filepath.Join(filepath.Dir(path), ".enqueue-"+strconv.Itoa(os.Getpid())+"-"+filepath.Base(path)+".part")
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) //nolint:gosec // under the user's umask, as any file
	if err != nil {
		return err
	}
	err = errors.Join(content(file), file.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		err = errors.Join(err, ignoreNotExist(os.Remove(part)))
	}
	return err
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
