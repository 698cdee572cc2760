package supervisor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// snapshot is what the steps left in the workspace: files, directories, links, with modes and
// times. It is held where no process of the job reaches it: names in this process's own memory,
// contents in a sealed file in memory. Both count against the container's memory limit.
type snapshot struct {
	memory  *os.File
	entries []keptEntry // a directory before what is in it
	size    int64       // of all contents
	limit   int64
	first   map[uint64]string // path of the first name of a file with several, by inode
	buf     [64 << 10]byte
}

// keptEntry is one name in the workspace.
type keptEntry struct {
	path     string
	mode     fs.FileMode
	modified time.Time
	offset   int64 // of a file's content in the snapshot's memory
	size     int64
	// target is that of a symbolic link, or the first name of a file that has several.
	target string
}

// takeSnapshot reads dir, in which nothing may change meanwhile; it opens up the modes of what it cannot
// read. Contents of more than limit bytes are an error, and so is a tree that is out of all proportion.
// FIFOs, sockets and devices are not kept.
func takeSnapshot(dir string, limit int64) (*snapshot, error) {
	memory, err := newMemory("snapshot")
	if err != nil {
		return nil, err
	}
	s := &snapshot{memory: memory, limit: limit, first: map[uint64]string{}}
	level := []string{"."}
	for len(level) > 0 {
		var below []string
		for _, path := range level {
			found, err := s.list(dir, path)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("%.100q: %w", path, err), memory.Close())
			}
			below = append(below, found...)
		}
		level = below
	}
	return s, errors.Join(seal(memory), nil)
}

// list keeps what is in the directory path below dir and returns the directories in it.
func (s *snapshot) list(dir, path string) (below []string, err error) {
	opened, err := os.Open(filepath.Join(dir, path)) //nolint:gosec // a directory that was seen, and nothing changes it
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	for {
		batch, err := opened.ReadDir(256)
		for _, entry := range batch {
			name := filepath.Join(path, entry.Name())
			if len(s.entries) >= maxEntries || len(name) > maxPathBytes {
				return nil, fmt.Errorf("more than %d entries or %d bytes of path", maxEntries, maxPathBytes)
			}
			if err := s.keep(dir, name); err != nil {
				return nil, err
			}
			if entry.IsDir() {
				below = append(below, name)
			}
		}
		if errors.Is(err, io.EOF) {
			return below, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *snapshot) keep(dir, name string) error {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	entry := keptEntry{path: name, mode: info.Mode(), modified: info.ModTime()}
	switch entry.mode.Type() {
	case fs.ModeDir:
		if entry.mode&0o500 != 0o500 {
			err = os.Chmod(path, 0o700) //nolint:gosec // the owner's own, to read what is in it
		}
	case fs.ModeSymlink:
		entry.target, err = os.Readlink(path)
	case 0:
		err = s.keepFile(path, info, &entry)
	default:
		return nil
	}
	s.entries = append(s.entries, entry)
	return err
}

func (s *snapshot) keepFile(path string, info fs.FileInfo, entry *keptEntry) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		if first, seen := s.first[stat.Ino]; seen {
			entry.target = first
			return nil
		}
		s.first[stat.Ino] = entry.path
	}
	entry.offset, entry.size = s.size, info.Size()
	if s.size += entry.size; s.size > s.limit || s.size < 0 {
		return fmt.Errorf("files are more than %d bytes, the most that can be kept for tests beside what runs", s.limit)
	}
	if entry.mode&0o400 == 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0) //nolint:gosec // a file that was seen, and nothing changes it
	if err != nil {
		return err
	}
	return errors.Join(s.copy(s.memory, entry.offset, file, 0, entry.size), file.Close())
}

// restore makes what was kept anew in dir, which is empty.
func (s *snapshot) restore(dir string) error {
	for _, entry := range s.entries {
		path := filepath.Join(dir, entry.path)
		var err error
		switch {
		case entry.mode.IsDir():
			err = os.Mkdir(path, 0o700)
		case entry.mode.Type() == fs.ModeSymlink:
			err = os.Symlink(entry.target, path)
		case entry.target != "":
			err = os.Link(filepath.Join(dir, entry.target), path)
		default:
			err = s.restoreFile(path, entry)
		}
		if err != nil {
			return err
		}
	}
	// Last of all and from below, because both change when something is put in.
	for i := len(s.entries) - 1; i >= 0; i-- {
		if entry := s.entries[i]; entry.mode.IsDir() {
			path := filepath.Join(dir, entry.path)
			if err := errors.Join(os.Chtimes(path, entry.modified, entry.modified), os.Chmod(path, entry.mode)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *snapshot) restoreFile(path string, entry keptEntry) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600) //nolint:gosec // in directories just made
	if err != nil {
		return err
	}
	err = s.copy(file, 0, s.memory, entry.offset, entry.size)
	return errors.Join(err, file.Chmod(entry.mode), file.Close(), os.Chtimes(path, entry.modified, entry.modified))
}

// copy copies size bytes between two files.
func (s *snapshot) copy(to *os.File, toOffset int64, from *os.File, fromOffset, size int64) error {
	for done := int64(0); done < size; {
		piece := s.buf[:min(int64(len(s.buf)), size-done)]
		if _, err := from.ReadAt(piece, fromOffset+done); err != nil {
			return err
		}
		if _, err := to.WriteAt(piece, toOffset+done); err != nil {
			return err
		}
		done += int64(len(piece))
	}
	return nil
}
