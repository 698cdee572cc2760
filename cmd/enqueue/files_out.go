package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// outFlags tell where files that come back go.
type outFlags struct {
	dir   string
	force bool
}

// check refuses a folder that files could not be written to, before a job runs for nothing.
func (f *outFlags) check() error {
	if info, err := os.Stat(f.dir); err == nil && !info.IsDir() {
		return usagef("--out-dir %s: is not a folder", f.dir)
	}
	return nil
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

// write stores the files of a result below the folder. The names come from the program and are
// hostile: os.Root keeps them below the folder whatever links are there. As a shell would, a file that
// the user named exactly is replaced; one that only a wildcard matched never replaces a file or
// has a hidden name, unless forced. The error joins a sentence for each file not written.
func (f *outFlags) write(files []sandbox.File, patterns []string) error {
	if len(files) == 0 {
		return nil
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil { //nolint:gosec // as mkdir does, under the user's umask
		return fmt.Errorf("--out-dir: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return fmt.Errorf("--out-dir: %w", err)
	}
	defer func() { _ = root.Close() }()
	var errs []error
	for i, file := range files {
		if err := f.writeFile(root, i, file, named(patterns, file.Path)); err != nil {
			errs = append(errs, fmt.Errorf("%q is not written: %w", file.Path, withoutPath(err)))
		}
	}
	return errors.Join(errs...)
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

// writeFile makes the file beside its place and renames it, so that a link at that place is
// replaced and not followed, and nobody sees half a file.
func (f *outFlags) writeFile(root *os.Root, number int, file sandbox.File, exact bool) error {
	if file.Path != path.Clean(file.Path) || !filepath.IsLocal(filepath.FromSlash(file.Path)) {
		return errors.New("the path leaves the folder")
	}
	if !exact && !f.force {
		if hidden(file.Path) {
			return errors.New("its name is hidden (--force writes it)")
		}
		if _, err := root.Lstat(file.Path); err == nil {
			return errors.New("it exists (--force replaces it)")
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	dir := path.Dir(file.Path)
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if file.Executable {
		mode = 0o755
	}
	part := path.Join(dir, ".enqueue-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(number)+".part")
	if err := root.WriteFile(part, file.Data, mode); err != nil {
		return errors.Join(err, ignoreNotExist(root.Remove(part)))
	}
	if err := root.Rename(part, file.Path); err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return nil
}

// withoutPath leaves out the name that the system's error repeats, which is the program's
// and may hold anything, or that of our own temporary file.
func withoutPath(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func hidden(name string) bool {
	for _, element := range strings.Split(name, "/") {
		if strings.HasPrefix(element, ".") {
			return true
		}
	}
	return false
}
