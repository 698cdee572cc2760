package problem

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"sort"
	"strings"
	"syscall"
)

// The bounds of what is read of a package.
const (
	maxEntries     = 50_000   // files and folders looked at
	maxDepth       = 12       // folders below the package's own
	maxYAMLBytes   = 1 << 20  // of one settings file
	maxSourceBytes = 16 << 20 // of one program with its included files
	maxSourceFiles = 1000     // of one program
)

// fileName is the format's rule for names, and +, which DOMjudge allows in submissions. What does not match
// is treated as if it were not there.
var fileName = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.+-]{0,254}$`)

// folder reads a package's files.
type folder struct {
	files   fs.FS
	report  *report
	entries int
	full    bool
}

// entry is a file or folder whose name the format allows. Links are followed to files.
type entry struct {
	name       string
	path       string
	folder     bool
	size       int64
	executable bool
}

// list returns what is in a folder by name. A folder that is not there is empty. What
// cannot be used is reported and left out; names that begin with a dot or a dash silently.
func (f *folder) list(dir string) []entry {
	if strings.Count(dir, "/") >= maxDepth {
		f.report.errorf(dir, 0, "the folder lies more than %d folders deep", maxDepth)
		return nil
	}
	found, err := f.readDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		f.report.errorf(dir, 0, "cannot be read: %v", plain(err))
		return nil
	}
	var entries []entry
	for _, item := range found {
		if f.entries++; f.entries > maxEntries {
			if !f.full {
				f.full = true
				f.report.errorf("", 0, "the package has more than %d files and folders", maxEntries)
			}
			return entries
		}
		if known, ok := f.entry(dir, item); ok {
			entries = append(entries, known)
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].name < entries[j].name })
	return entries
}

// readDir returns at most one entry more than may be looked at.
func (f *folder) readDir(dir string) ([]fs.DirEntry, error) {
	file, err := f.files.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	listing, ok := file.(fs.ReadDirFile)
	if !ok {
		return nil, errors.New("is no folder")
	}
	found, err := listing.ReadDir(max(1, maxEntries+1-f.entries))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return found, err
}

func (f *folder) entry(dir string, item fs.DirEntry) (entry, bool) {
	name := item.Name()
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "~") || name == "__pycache__" {
		return entry{}, false
	}
	if !fileName.MatchString(name) {
		f.report.warnf(dir, 0, "%q is ignored: want a name of letters, digits, dots, dashes and underscores", shorten(name))
		return entry{}, false
	}
	full := path.Join(dir, name)
	isLink := item.Type()&fs.ModeSymlink != 0
	info, err := fs.Stat(f.files, full)
	switch {
	case err != nil && isLink:
		f.report.errorf(full, 0, "the link does not lead to a file in the package")
		return entry{}, false
	case err != nil:
		f.report.errorf(full, 0, "cannot be read: %v", plain(err))
		return entry{}, false
	case isLink && info.IsDir():
		f.report.errorf(full, 0, "is a link to a folder: want links to files only")
		return entry{}, false
	case !info.IsDir() && !info.Mode().IsRegular():
		f.report.errorf(full, 0, "is a %s: want files and folders only", kind(info.Mode()))
		return entry{}, false
	}
	return entry{name: name, path: full, folder: info.IsDir(), size: info.Size(), executable: info.Mode()&0o111 != 0}, true
}

// exists tells whether a regular file or folder is there, dot names included.
func (f *folder) exists(name string) bool {
	_, err := fs.Stat(f.files, name)
	return err == nil
}

// read returns a whole file of at most limit bytes. Other than a file that is not
// there, trouble is reported; both give false.
func (f *folder) read(name string, limit int64) ([]byte, bool) {
	data, err := readFile(f.files, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err != nil {
		f.report.errorf(name, 0, "%v", plain(err))
		return nil, false
	}
	return data, true
}

// readFile reads a regular file and refuses more than limit bytes.
func readFile(files fs.FS, name string, limit int64) ([]byte, error) {
	file, err := open(files, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d bytes", limit)
	}
	return data, nil
}

// open opens a regular file and nothing else.
func open(files fs.FS, name string) (fs.File, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("is a %s: want a file", kind(info.Mode()))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// rootFS is an os.Root whose files are opened without waiting: a FIFO in a package
// would else hold us up for ever.
type rootFS struct{ root *os.Root }

func (r rootFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := r.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (r rootFS) Stat(name string) (fs.FileInfo, error) { return r.root.Stat(name) }

// plain takes the operation and path off an error, which the issue names itself.
func plain(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "FIFO"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// shorten bounds a text of the package in a message.
func shorten(text string) string {
	if len(text) > 64 {
		return text[:64] + "..."
	}
	return text
}
