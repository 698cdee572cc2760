package submissions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is a folder, an archive or a single file.
type source interface {
	// name is the last element of its path, for messages and ids.
	name() string
	// archived tells that its one folder may be no more than what was packed.
	archived() bool
	// each visits all entries, every time in the same order.
	each(visit func(entry) error) error
	close() error
}

// entry is a file or folder of a source.
type entry struct {
	// path is as the source has it, with slashes.
	path   string
	folder bool
	size   int64
	// executable tells whether the file may be run.
	executable bool
	// problem says why a file cannot be used.
	problem string
	// open is valid during the visit.
	open func() (io.ReadCloser, error)
}

// otherArchives are the extensions of what looks like a submission and is not.
var otherArchives = []string{".7z", ".bz2", ".gz", ".rar", ".tgz", ".xz", ".zip", ".zst"}

// openSource tells by its content what a path is.
func openSource(path string) (source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return openFolder(path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is neither a file nor a folder", path)
	}
	file, err := os.Open(path) //nolint:gosec // the user's own file
	if err != nil {
		return nil, err
	}
	head := make([]byte, 265)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, file.Close())
	}
	head = head[:n]
	base := filepath.Base(path)
	extension := strings.ToLower(filepath.Ext(path))
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return openZip(file, base, info.Size())
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return &tarball{file: file, base: base, compressed: info.Size()}, nil
	case extension == ".tar", n > 262 && string(head[257:262]) == "ustar":
		return &tarball{file: file, base: base}, nil
	case slices.Contains(otherArchives, extension):
		return nil, errors.Join(fmt.Errorf("%s: is no archive that can be read: want zip, tar or tar.gz", path), file.Close())
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return &single{path: path, info: info}, nil
}

// single is a path that is a submission itself.
type single struct {
	path string
	info fs.FileInfo
}

func (s *single) name() string   { return filepath.Base(s.path) }
func (s *single) archived() bool { return false }
func (s *single) close() error   { return nil }

func (s *single) each(visit func(entry) error) error {
	return visit(entry{
		path: s.name(), size: s.info.Size(), executable: s.info.Mode()&0o111 != 0,
		open: func() (io.ReadCloser, error) { return os.Open(s.path) },
	})
}
