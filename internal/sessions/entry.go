package sessions

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// entry is a live interpreter. The job that took it may use and change it until it puts it back.
type entry struct {
	session     workspace.Session
	nonce       string
	language    string
	interpreter Interpreter
	terms       terms
	started     time.Time

	// Under the mutex of Sessions: when it was used last, whether a job has it, and why it is being ended, if it is.
	used   time.Time
	busy   bool
	ending string

	cells int
	// version is that of the session's files which /workspace has, or unsettled.
	version int64
	has     contents
}

// unsettled is the version of a workspace that is none of the session's: a call wrote what was not committed.
const unsettled = -1

// ended tells whether the interpreter is gone.
func (e *entry) ended() bool {
	select {
	case <-e.interpreter.Done():
		return true
	default:
		return false
	}
}

// contents is what a workspace holds: a hash for each path. It is nil when nobody knows.
type contents map[string][sha256.Size]byte

func hash(file sandbox.File) [sha256.Size]byte {
	if file.Executable {
		return sha256.Sum256(append([]byte{'x'}, file.Data...))
	}
	return sha256.Sum256(append([]byte{'-'}, file.Data...))
}

// contentsOf takes files as what there is.
func contentsOf(files []sandbox.File) contents {
	c := make(contents, len(files))
	for _, file := range files {
		c[file.Path] = hash(file)
	}
	return c
}

// difference tells what makes the workspace hold just these files: which to write after others were removed.
func (c contents) difference(files []sandbox.File) (write []sandbox.File, remove []string) {
	if c == nil {
		return files, []string{"."}
	}
	surplus := maps.Clone(c)
	for _, file := range files {
		if have, there := c[file.Path]; !there || have != hash(file) {
			write = append(write, file)
		}
		delete(surplus, file.Path)
	}
	return write, slices.Sorted(maps.Keys(surplus))
}

// forget drops the files that something else has taken the place of, such as a link, and tells whether there are any. The
// session keeps them, so the next call has to find them again.
func (c contents) forget(refused []sandbox.RefusedFile) (some bool) {
	before := len(c)
	for _, file := range refused {
		delete(c, file.Path)
	}
	return len(c) < before
}

// change notes what a call did.
func (c contents) change(written []sandbox.File, deleted []string) {
	for _, name := range deleted {
		delete(c, name)
		maps.DeleteFunc(c, func(path string, _ [sha256.Size]byte) bool { return strings.HasPrefix(path, name+"/") })
	}
	for _, file := range written {
		c[file.Path] = hash(file)
	}
}
