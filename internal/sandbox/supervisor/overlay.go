package supervisor

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// overlayFiles writes a test's files below dir, over what the steps left there. What is in the way of one
// of them gives way, because whoever wrote the steps must not decide what a test finds.
func overlayFiles(dir string, files []wire.FileHeader, data io.Reader) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, file := range files {
		if err := overlayFile(root, file, data); err != nil {
			return placeError(dir, file, err)
		}
	}
	return nil
}

func overlayFile(root *os.Root, file wire.FileHeader, data io.Reader) error {
	name, isFolder := strings.CutSuffix(file.Path, "/")
	for end, letter := range name {
		if letter == '/' {
			if err := makeFolder(root, name[:end]); err != nil {
				return err
			}
		}
	}
	if isFolder {
		return makeFolder(root, name)
	}
	if err := removeTree(root, name); err != nil {
		return err
	}
	return placeFile(root, file, data)
}

// makeFolder makes a directory in which the job can write, unless there is one.
func makeFolder(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return root.Chmod(name, info.Mode()|0o700)
	default:
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	return root.Mkdir(name, 0o755)
}

// removeTree removes what has the name, if anything does, whatever the modes in it.
func removeTree(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := openUp(root, name); err != nil {
			return err
		}
	}
	return root.RemoveAll(name)
}

// openUp gives a directory and all those below it modes with which they can be emptied.
func openUp(root *os.Root, name string) error {
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := openUp(root, name+"/"+entry.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
