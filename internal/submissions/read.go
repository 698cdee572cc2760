package submissions

import (
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// gathered is a submission whose files are being read.
type gathered struct {
	Submission
	seen  int
	bytes int64
}

// read hands out each submission when its last file has come.
func (p *plan) read(maxBytes int64, emit func(Submission) error) error {
	open := map[string]*gathered{}
	unfinished := int64(0)
	err := p.source.each(func(found entry) error {
		key, _, ok := p.place(found)
		known, planned := p.byKey[key]
		if !ok || !planned {
			return nil
		}
		current := open[key]
		if current == nil {
			current = &gathered{Submission: Submission{ID: known.id, Group: known.group, Problem: known.fault()}}
			open[key] = current
		}
		current.seen++
		unfinished -= current.bytes
		if !found.folder && current.Problem == "" {
			current.take(p.relative(found), found, maxBytes)
		}
		unfinished += current.bytes
		if current.seen >= known.entries {
			delete(open, key)
			unfinished -= current.bytes
			return emit(current.finished())
		}
		if unfinished > maxUnfinished {
			return fmt.Errorf("the files of too many submissions lie among each other: %d MiB belong to submissions that are not complete", maxUnfinished>>20)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, known := range p.order { // in the order of the plan, not of the map
		for key, left := range open {
			if p.byKey[key] != known {
				continue
			}
			left.Problem = "changed while it was read"
			if err := emit(left.finished()); err != nil {
				return err
			}
		}
	}
	return nil
}

// fault is what is known to be wrong before any file is read.
func (p *planned) fault() string {
	if p.isFile && p.isTree {
		return "is both a file and a folder"
	}
	return p.problem
}

// take reads one file.
func (g *gathered) take(name string, found entry, maxBytes int64) {
	switch {
	case found.problem != "":
		g.Problem = fmt.Sprintf("%s %s", printable(name), found.problem)
	case len(g.Files) == maxFiles:
		g.Problem = fmt.Sprintf("has more than %d files", maxFiles)
	case found.size > maxBytes-g.bytes:
		g.Problem = fmt.Sprintf("is larger than %d bytes", maxBytes)
	case slices.ContainsFunc(g.Files, func(file sandbox.File) bool { return file.Path == name }):
		g.Problem = fmt.Sprintf("holds %s twice", printable(name))
	}
	if g.Problem != "" {
		g.Files, g.bytes = nil, 0
		return
	}
	data, err := content(found, maxBytes-g.bytes)
	if err != nil {
		g.Problem = fmt.Sprintf("%s cannot be read: %v", printable(path.Base(name)), err)
		return
	}
	g.bytes += int64(len(data))
	g.Files = append(g.Files, sandbox.File{Path: name, Data: data, Executable: found.executable})
}

// content reads at most limit bytes, whatever the entry says of its size.
func content(found entry, limit int64) (data []byte, err error) {
	reader, err := found.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	data, err = io.ReadAll(io.LimitReader(reader, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it is larger than the %d bytes that are left", limit)
	}
	return data, nil
}

// finished is the submission when no more files come.
func (g *gathered) finished() Submission {
	if len(g.Files) == 0 && g.Problem == "" {
		g.Problem = "holds no file"
	}
	return g.Submission
}
