package workspace

import (
	"bytes"
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Apply returns files without those deleted and with those written, by path. A folder's path deletes all below it,
// and that of nothing deletes nothing. The slices that it is given stay as they are.
func Apply(files, write []sandbox.File, deleted []string) []sandbox.File {
	gone := make(map[string]bool, len(deleted))
	for _, name := range deleted {
		gone[name] = true
	}
	written := make(map[string]bool, len(write))
	for _, file := range write {
		written[file.Path] = true
	}
	result := slices.Clone(write)
	for _, file := range files {
		if !written[file.Path] && !gone[file.Path] && !liesIn(file.Path, gone) {
			result = append(result, file)
		}
	}
	slices.SortFunc(result, byPath)
	return result
}

// foldersOf yields the folders that a path lies in, innermost first.
func foldersOf(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for folder := path.Dir(name); folder != "." && folder != "/"; folder = path.Dir(folder) {
			if !yield(folder) {
				return
			}
		}
	}
}

func liesIn(name string, folders map[string]bool) bool {
	for folder := range foldersOf(name) {
		if folders[folder] {
			return true
		}
	}
	return false
}

// Diff tells how to come from one set of files to another: which to write, and which paths to delete, in order.
func Diff(from, to []sandbox.File) (write []sandbox.File, deleted []string) {
	before := make(map[string]sandbox.File, len(from))
	for _, file := range from {
		before[file.Path] = file
	}
	for _, file := range to {
		old, existed := before[file.Path]
		if !existed || old.Executable != file.Executable || !bytes.Equal(old.Data, file.Data) {
			write = append(write, file)
		}
		delete(before, file.Path)
	}
	for name := range before {
		deleted = append(deleted, name)
	}
	slices.SortFunc(write, byPath)
	slices.Sort(deleted)
	return write, deleted
}

// Check refuses with ErrInvalid what could not be the content of a folder.
func Check(files []sandbox.File) error {
	if err := sandbox.CheckFiles(files); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}
