package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Folder is a folder of the user's that files of a program are written to.
type Folder struct {
	// Path is the folder, which is made if need be; Flag names in errors what the user set it by.
	Path, Flag string
	// Force lets every file replace one that exists, and have a hidden name. Fresh does so in a folder that holds
	// nothing when Write is called, where nothing can be spoilt.
	Force, Fresh bool
}

// Check refuses a folder that files could not be written to, before anything runs for nothing.
func (f Folder) Check() error {
	if info, err := os.Stat(f.Path); err == nil && !info.IsDir() {
		return Usagef("%s %s: is not a folder", f.Flag, f.Path)
	}
	return nil
}

// Write stores files below the folder. The names come from a program and are hostile: os.Root keeps
// them below the folder whatever links are there. As a shell would, a file that the user named is
// replaced; any other never replaces a file or has a hidden name, unless forced. named may be nil: the
// user named none. The error joins a sentence for each file not written.
func (f Folder) Write(files []sandbox.File, named func(path string) bool) error {
	if len(files) == 0 {
		return nil
	}
	if err := os.MkdirAll(f.Path, 0o755); err != nil { //nolint:gosec // as mkdir does, under the user's umask
		return fmt.Errorf("%s: %w", f.Flag, err)
	}
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Flag, err)
	}
	defer func() { _ = root.Close() }()
	if f.Fresh {
		there, err := fs.ReadDir(root.FS(), ".")
		if err != nil {
			return fmt.Errorf("%s: %w", f.Flag, err)
		}
		f.Force = f.Force || len(there) == 0
	}
	var errs []error
	for i, file := range files {
		replace := f.Force || (named != nil && named(file.Path))
		if err := writeFile(root, i, file, replace); err != nil {
			errs = append(errs, fmt.Errorf("%q is not written: %w", file.Path, withoutPath(err)))
		}
	}
	return errors.Join(errs...)
}

// writeFile makes the file beside its place and renames it, so that a link at that place is
// replaced and not followed, and nobody sees half a file.
func writeFile(root *os.Root, number int, file sandbox.File, replace bool) error {
	if file.Path != path.Clean(file.Path) || !filepath.IsLocal(filepath.FromSlash(file.Path)) {
		return errors.New("the path leaves the folder")
	}
	if !replace {
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
	part := path.Join(dir, ".sandloop-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(number)+".part")
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
