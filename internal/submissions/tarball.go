package submissions

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// tarball is a tar archive, which is read from its beginning each time.
type tarball struct {
	file *os.File
	base string
	// compressed is the size of one in gzip; 0 is one that is not.
	compressed int64
}

func (t *tarball) name() string   { return t.base }
func (t *tarball) archived() bool { return true }
func (t *tarball) close() error   { return t.file.Close() }

func (t *tarball) each(visit func(entry) error) error {
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var content io.Reader = bufio.NewReaderSize(t.file, 64<<10)
	if t.compressed > 0 {
		unpacked, err := gzip.NewReader(content)
		if err != nil {
			return err
		}
		content = &unpacking{from: unpacked, growth: growth{from: t.compressed}}
	}
	archive := tar.NewReader(content)
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, tar.ErrHeader) && t.compressed > 0:
			return fmt.Errorf("is no tar archive in gzip: %w", err)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return err
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := visit(tarEntry(header, archive)); err != nil {
			return err
		}
	}
}

func tarEntry(header *tar.Header, content io.Reader) entry {
	found := entry{path: strings.TrimPrefix(header.Name, "./")}
	switch header.Typeflag {
	case tar.TypeDir:
		found.folder = true
	case tar.TypeReg:
		found.size, found.executable = header.Size, header.Mode&0o111 != 0
		found.open = func() (io.ReadCloser, error) { return io.NopCloser(content), nil }
	case tar.TypeLink, tar.TypeSymlink:
		found.problem = "is a link: want files and folders only"
	default:
		found.problem = "is a " + kind(header.FileInfo().Mode()) + ": want files and folders only"
	}
	return found
}

// unpacking bounds what comes out of gzip, whatever the headers in it say.
type unpacking struct {
	from   io.Reader
	growth growth
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.from.Read(p)
	if grown := u.growth.add(int64(n)); grown != nil {
		return n, grown
	}
	return n, err
}
