package submissions

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// plan tells which entries of a source make up which submission.
type plan struct {
	source source
	// skip is how many leading folders belong to no submission: that of an archive which holds nothing
	// else, and the group.
	skip, groups int
	// order has the submissions by their first entry, and byKey finds them.
	order []*planned
	byKey map[string]*planned
}

// planned is a submission before its files are read.
type planned struct {
	id, group string
	// name is that of the file or folder.
	name           string
	entries        int
	isFile, isTree bool
	// problem is set for an entry that has no place in any submission.
	problem string
}

// newPlan lists a source. Whether an archive is one folder is known at its end only, so both
// plans are made until there is a second name.
func newPlan(src source, groupByFolder bool) (*plan, error) {
	groups := 0
	if groupByFolder {
		groups = 1
	}
	plain := &plan{source: src, groups: groups, byKey: map[string]*planned{}}
	inside := &plan{source: src, groups: groups, byKey: map[string]*planned{}, skip: 1}
	wrapper, entries, total := "", 0, int64(0)
	err := src.each(func(found entry) error {
		if entries++; entries > maxEntries {
			return fmt.Errorf("holds more than %d files and folders", maxEntries)
		}
		if total += min(found.size, maxTotal+1); total > maxTotal {
			return fmt.Errorf("holds more than %d GiB", maxTotal>>30)
		}
		plain.add(found)
		if inside == nil {
			return nil
		}
		if !src.archived() || !inside.wraps(found, &wrapper) {
			inside = nil
			return nil
		}
		inside.add(found)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if inside != nil && wrapper != "" && len(inside.order) > 0 {
		return inside, nil
	}
	return plain, nil
}

// wraps tells whether everything so far lies in one folder.
func (p *plan) wraps(found entry, wrapper *string) bool {
	elements, problem := split(found)
	if problem != "" {
		return true
	}
	if hidden(elements) {
		return true
	}
	if *wrapper == "" {
		*wrapper = elements[0]
	}
	return *wrapper == elements[0] && (len(elements) > 1 || found.folder)
}

// add counts an entry for its submission.
func (p *plan) add(found entry) {
	key, one, ok := p.place(found)
	if !ok {
		return
	}
	known, exists := p.byKey[key]
	if !exists {
		known = &one
		p.byKey[key] = known
		p.order = append(p.order, known)
	}
	known.entries++
	known.isFile = known.isFile || one.isFile
	known.isTree = known.isTree || one.isTree
}

// place finds the submission of an entry, by a key that no other has, and what the entry says of it. False is none.
func (p *plan) place(found entry) (key string, one planned, ok bool) {
	elements, problem := split(found)
	if problem != "" {
		return "\x00" + found.path, planned{name: found.path, problem: problem, isFile: true}, true
	}
	if hidden(elements) {
		return "", planned{}, false
	}
	depth := p.skip + p.groups
	if len(elements) <= depth {
		if found.folder || len(elements) <= p.skip {
			return "", planned{}, false
		}
		problem = "lies in no folder: want a folder for each group"
		return "\x00" + found.path, planned{name: elements[len(elements)-1], problem: problem, isFile: true}, true
	}
	one.name = elements[depth]
	if p.groups > 0 {
		one.group = printable(elements[p.skip])
	}
	one.isTree = len(elements) > depth+1 || found.folder
	one.isFile = !one.isTree
	return strings.Join(elements[:depth+1], "/"), one, true
}

// relative is an entry's path in its submission.
func (p *plan) relative(found entry) string {
	elements, _ := split(found)
	depth := p.skip + p.groups
	if len(elements) == depth+1 {
		return elements[depth]
	}
	return path.Join(elements[depth+1:]...)
}

// split takes a path apart. A name that leads elsewhere, or that two systems read differently, has no place.
func split(found entry) (elements []string, problem string) {
	name := strings.TrimSuffix(found.path, "/")
	switch {
	case len(name) > maxNameBytes:
		return nil, fmt.Sprintf("has a name of %d bytes: want at most %d", len(name), maxNameBytes)
	case !utf8.ValidString(name) && strings.ContainsRune(name, '/'):
		return nil, "has a name that is not UTF-8"
	case name == "." || name == "" && found.folder:
		return []string{"."}, ""
	case name == "" || strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
		return nil, "has a name that is not a clean relative path with slashes"
	}
	elements = strings.Split(name, "/")
	if len(elements) > maxDepth {
		return nil, fmt.Sprintf("lies more than %d folders deep", maxDepth)
	}
	return elements, ""
}
