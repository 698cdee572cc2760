package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// collector reads the files that --file names, up to a total size.
type collector struct {
	// main is the program's own file, which goes to mainPath and is not sent twice.
	main, mainPath string
	// flag is what errors call that which names the files, --file if empty, and most what is above left.
	flag, most string
	left       int64
	files      []sandbox.File
}

func (c *collector) named() string { return cmp.Or(c.flag, "--file") }

// add reads one --file value: [DEST=]PATH.
func (c *collector) add(spec string) error {
	dest, name, given := strings.Cut(spec, "=")
	if !given {
		name, dest = spec, defaultDest(spec)
	}
	if name == "" {
		return fmt.Errorf("%s %q: want PATH or DEST=PATH", c.named(), spec)
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("%s: %w", c.named(), err)
	}
	if !info.IsDir() {
		if given && strings.HasSuffix(dest, "/") {
			dest += filepath.Base(name)
		}
		return c.addFile(path.Clean(dest), name)
	}
	return filepath.WalkDir(name, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(name, at)
		if err != nil {
			return err
		}
		return c.addFile(path.Join(dest, filepath.ToSlash(below)), at)
	})
}

// defaultDest keeps a path below the current folder as it is, so that a program finds its
// files where it finds them when it is run by hand; other paths give their last element.
func defaultDest(name string) string {
	if filepath.IsLocal(name) {
		return filepath.ToSlash(filepath.Clean(name))
	}
	return filepath.Base(filepath.Clean(name))
}

// addFile reads one file. Links are followed: they are the user's own.
func (c *collector) addFile(dest, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("%s: %w", c.named(), err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s %s: is neither a file nor a folder", c.named(), name)
	}
	if dest == c.mainPath && c.isMain(info) {
		return nil
	}
	file, err := os.Open(name) //nolint:gosec // the user's own file
	if err != nil {
		return fmt.Errorf("%s: %w", c.named(), err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, c.left+1))
	if err != nil {
		return fmt.Errorf("%s: %w", c.named(), err)
	}
	if int64(len(data)) > c.left {
		return fmt.Errorf("%s %s: with it the files are larger than %s", c.named(), name, cmp.Or(c.most, "a job may send"))
	}
	c.left -= int64(len(data))
	c.files = append(c.files, sandbox.File{Path: dest, Data: data, Executable: info.Mode()&0o111 != 0})
	return nil
}

func (c *collector) isMain(info fs.FileInfo) bool {
	main, err := os.Stat(c.main)
	return err == nil && os.SameFile(main, info)
}
