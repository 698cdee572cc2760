package supervisor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// Bounds on what is looked at in a workspace that hostile code has left.
const (
	maxEntries   = 100_000
	maxMatches   = 10_000
	maxRefused   = 100
	maxDepth     = 64
	maxPathBytes = 1024
)

// collector finds the files that a job asks back. User code is dead by then, so nothing
// changes while it looks; but any name can be a link, a FIFO or a trap.
type collector struct {
	root     *os.Root
	patterns []string
	// depth is how deep a match can be.
	depth   int
	entries int
	matches []string
	refused []sandbox.RefusedFile
	// dropped counts refusals that were too many to name; droppedMore tells that one was for a limit.
	dropped     int
	droppedMore bool
}

// collect sends the files below dir that match the spec's patterns, in the order of their paths,
// and returns what it refused. Its error is that of sending.
func collect(dir string, spec wire.Spec, out *wire.Writer) ([]sandbox.RefusedFile, error) {
	if len(spec.Outputs) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []sandbox.RefusedFile{{Path: ".", Reason: reason(err)}}, nil
	}
	defer func() { _ = root.Close() }()
	c := &collector{root: root, patterns: spec.Outputs, depth: deepest(spec.Outputs)}
	c.walk()
	sort.Strings(c.matches)
	if err := c.send(spec, out); err != nil {
		return nil, err
	}
	if c.dropped > 0 {
		c.refused = append(c.refused, sandbox.RefusedFile{Path: ".", Reason: fmt.Sprintf("%d more were refused", c.dropped), Limit: c.droppedMore})
	}
	return c.refused, nil
}

func deepest(patterns []string) int {
	depth := 0
	for _, pattern := range patterns {
		elements := strings.Split(pattern, "/")
		for _, element := range elements {
			if element == "**" {
				return maxDepth
			}
		}
		depth = max(depth, len(elements))
	}
	return min(depth, maxDepth)
}

// refuse notes a file that does not come back for what it is.
func (c *collector) refuse(path, format string, args ...any) {
	c.note(path, false, fmt.Sprintf(format, args...))
}

// refuseMore notes one that would, were there fewer or smaller ones.
func (c *collector) refuseMore(path, format string, args ...any) {
	c.note(path, true, fmt.Sprintf(format, args...))
}

func (c *collector) note(path string, limit bool, reason string) {
	if len(c.refused) >= maxRefused {
		c.dropped++
		c.droppedMore = c.droppedMore || limit
		return
	}
	if len(path) > maxPathBytes { // all refusals must fit one frame, however long names are made
		path = path[:maxPathBytes] + "..."
	}
	c.refused = append(c.refused, sandbox.RefusedFile{
		Path: strings.ToValidUTF8(path, "\uFFFD"), Reason: reason, Limit: limit,
	})
}

// walk looks at directories level by level, so that neither a deep nor a wide tree
// costs more than its bounded list of names.
func (c *collector) walk() {
	level := []string{"."}
	for depth := 1; len(level) > 0; depth++ {
		var below []string
		for _, dir := range level {
			below = append(below, c.list(dir, depth)...)
			if c.entries > maxEntries {
				c.refuseMore(".", "more than %d entries: the rest was not looked at", maxEntries)
				return
			}
		}
		level = below
	}
}

// list notes the matches in one directory and returns the directories in it.
func (c *collector) list(dir string, depth int) (below []string) {
	opened, err := c.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		c.refuse(dir, "cannot be listed: %s", reason(err))
		return nil
	}
	defer func() { _ = opened.Close() }()
	for c.entries <= maxEntries {
		batch, err := opened.ReadDir(256)
		for _, entry := range batch {
			c.entries++
			name := entry.Name()
			if dir != "." {
				name = dir + "/" + name
			} else if name == sandbox.OutPath {
				continue
			}
			if !entry.IsDir() {
				c.consider(name, entry.Type())
				continue
			}
			if depth < c.depth {
				below = append(below, name)
			} else if depth >= maxDepth {
				c.refuseMore(name, "deeper than %d directories: not looked at", maxDepth)
			}
		}
		if errors.Is(err, io.EOF) {
			return below
		}
		if err != nil {
			c.refuse(dir, "cannot be listed: %s", reason(err))
			return below
		}
	}
	return below
}

func (c *collector) consider(name string, kind fs.FileMode) {
	matched := false
	for _, pattern := range c.patterns {
		matched = matched || sandbox.MatchPattern(pattern, name)
	}
	switch {
	case !matched:
	case !kind.IsRegular():
		c.refuse(name, "is a %s, not a file", kindName(kind))
	case !utf8.ValidString(name):
		c.refuse(name, "its name %.1024q is not UTF-8", name)
	case len(name) > maxPathBytes:
		c.refuse(name, "its path is longer than %d bytes", maxPathBytes)
	case len(c.matches) >= maxMatches:
		c.refuseMore(name, "more than %d files match", maxMatches)
	default:
		c.matches = append(c.matches, name)
	}
}

func (c *collector) send(spec wire.Spec, out *wire.Writer) error {
	left, count := spec.FileBytes, 0
	for _, name := range c.matches {
		if count >= spec.FilesOut {
			c.refuseMore(name, "more than %d files match", spec.FilesOut)
			continue
		}
		sent, err := c.sendFile(name, left, spec.FileBytes, out)
		if err != nil {
			return err
		}
		if sent >= 0 {
			left -= sent
			count++
		}
	}
	return nil
}

// sendFile returns how many bytes it sent, or -1 when it refused the file.
func (c *collector) sendFile(name string, left, limit int64, out *wire.Writer) (int64, error) {
	file, err := c.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		c.refuse(name, "cannot be opened: %s", reason(err))
		return -1, nil
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		c.refuse(name, "cannot be read: %s", reason(err))
		return -1, nil
	case !info.Mode().IsRegular():
		c.refuse(name, "is a %s, not a file", kindName(info.Mode()))
		return -1, nil
	case info.Size() > left:
		c.refuseMore(name, "has %d bytes: %d are left of the %d that all files may have", info.Size(), left, limit)
		return -1, nil
	}
	header := wire.FileHeader{Path: name, Size: info.Size(), Executable: info.Mode()&0o100 != 0}
	if err := out.WriteJSON(wire.TypeFile, header); err != nil {
		return 0, err
	}
	buf := make([]byte, min(wire.ChunkSize, info.Size()))
	for rest := info.Size(); rest > 0; {
		n, err := io.ReadFull(file, buf[:min(int64(len(buf)), rest)])
		if err != nil {
			return 0, fmt.Errorf("read %q of %d bytes: %w", name, info.Size(), err)
		}
		if err := out.Write(wire.TypeData, buf[:n]); err != nil {
			return 0, err
		}
		rest -= int64(n)
	}
	return info.Size(), nil
}

func kindName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "FIFO"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	case mode.IsDir():
		return "directory"
	}
	return "special file"
}

// reason is an error without the path that it repeats.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}
