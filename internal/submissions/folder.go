package submissions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// folder is a folder that somebody else filled: no link in it is followed.
type folder struct {
	root *os.Root
	base string
}

func openFolder(name string) (source, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, base: filepath.Base(absolute)}, nil
}

func (f *folder) name() string   { return f.base }
func (f *folder) archived() bool { return false }
func (f *folder) close() error   { return f.root.Close() }

func (f *folder) each(visit func(entry) error) error { return f.walk(".", visit) }

func (f *folder) walk(dir string, visit func(entry) error) error {
	if strings.Count(dir, "/") >= maxDepth {
		return fmt.Errorf("folder %s lies more than %d folders deep", dir, maxDepth)
	}
	items, err := f.list(dir)
	if err != nil {
		return fmt.Errorf("folder %s: %w", dir, err)
	}
	for _, item := range items {
		at := path.Join(dir, item.Name())
		if item.IsDir() && ignored(item.Name()) {
			continue // there may be much in .git
		}
		if err := visit(f.entry(at, item)); err != nil {
			return err
		}
		if item.IsDir() {
			if err := f.walk(at, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *folder) list(dir string) ([]fs.DirEntry, error) {
	file, err := f.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	items, err := file.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(items, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return items, nil
}

func (f *folder) entry(at string, item fs.DirEntry) entry {
	found := entry{path: at, folder: item.IsDir()}
	if found.folder {
		return found
	}
	info, err := item.Info()
	switch {
	case err != nil:
		found.problem = "cannot be read"
	case !info.Mode().IsRegular():
		found.problem = "is a " + kind(info.Mode()) + ": want files and folders only"
	default:
		found.size, found.executable = info.Size(), info.Mode()&0o111 != 0
		found.open = func() (io.ReadCloser, error) { return f.open(at) }
	}
	return found
}

// open opens a regular file. One that became a FIFO in the meantime does not hold us up.
func (f *folder) open(name string) (io.ReadCloser, error) {
	file, err := f.root.OpenFile(name, openOnly, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is no file any more")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "FIFO"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
