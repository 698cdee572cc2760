package submissions

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// maxDirectory bounds what is read of a zip archive to list it, since the whole list is held in memory.
const maxDirectory = 32 << 20

// encrypted is the bit of a zip entry's flags that says so.
const encrypted = 1

// zipped is a zip archive.
type zipped struct {
	file   *os.File
	base   string
	bytes  int64
	sorted []*zip.File
}

func openZip(file *os.File, base string, size int64) (source, error) {
	reader, err := listZip(file, size)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", base, err), file.Close())
	}
	sorted := slices.Clone(reader.File)
	// What lies in a folder comes before its neighbours, as in a folder on disk.
	order := func(file *zip.File) string { return strings.ReplaceAll(file.Name, "/", "\x00") }
	slices.SortStableFunc(sorted, func(a, b *zip.File) int { return strings.Compare(order(a), order(b)) })
	return &zipped{file: file, base: base, bytes: size, sorted: sorted}, nil
}

// listZip reads the list of files.
func listZip(file *os.File, size int64) (*zip.Reader, error) {
	listing := &boundedAt{at: file, left: maxDirectory}
	reader, err := zip.NewReader(listing, size)
	if err != nil {
		return nil, err
	}
	listing.left = -1 // from now on contents are read, which are bounded one by one
	return reader, nil
}

// OpenZip opens a zip archive as a file system that leads nowhere else. What is read of its files is for
// the caller to bound. The caller closes the file.
func OpenZip(path string) (fs.FS, io.Closer, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own file
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	reader, err := listZip(file, info.Size())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return reader, file, nil
}

func (z *zipped) name() string   { return z.base }
func (z *zipped) archived() bool { return true }
func (z *zipped) close() error   { return z.file.Close() }

func (z *zipped) each(visit func(entry) error) error {
	growth := growth{from: z.bytes}
	for _, file := range z.sorted {
		found := entry{path: file.Name, folder: strings.HasSuffix(file.Name, "/")}
		mode := file.Mode()
		size := int64(min(file.UncompressedSize64, 1<<62))
		switch {
		case found.folder:
		case !mode.IsRegular():
			found.problem = "is a " + kind(mode) + ": want files and folders only"
		case file.Flags&encrypted != 0:
			found.problem = "is encrypted"
		default:
			found.size, found.executable, found.open = size, mode&0o111 != 0, file.Open
		}
		if err := growth.add(found.size); err != nil {
			return err
		}
		if err := visit(found); err != nil {
			return err
		}
	}
	return nil
}

// growth bounds what comes out of a compressed archive of a size.
type growth struct{ from, to int64 }

func (g *growth) add(bytes int64) error {
	g.to += min(bytes, maxTotal+1)
	if g.to > freeBytes && g.to/maxRatio > g.from {
		return fmt.Errorf("becomes more than %d times as large when it is unpacked", maxRatio)
	}
	return nil
}

// boundedAt reads up to a number of bytes of a file; below 0 there is no bound.
type boundedAt struct {
	at   io.ReaderAt
	left int64
}

func (b *boundedAt) ReadAt(p []byte, offset int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			b.left = 0
			return 0, fmt.Errorf("the archive's list of files is larger than %d MiB", maxDirectory>>20)
		}
	}
	return b.at.ReadAt(p, offset)
}
