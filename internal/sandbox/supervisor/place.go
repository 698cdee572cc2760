package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// dataReader is the bytes of the TypeData frames that follow a spec or a test.
type dataReader struct {
	next func() (wire.Type, []byte, error)
	rest []byte // of the last frame
	due  int64  // bytes that were announced and have not come yet
}

func newDataReader(frames *wire.Reader, spec wire.Spec) *dataReader {
	return &dataReader{next: frames.Read, due: dataSize(spec.Files, spec.StdinSize)}
}

// dataSize is how many bytes follow a spec or a test.
func dataSize(files []wire.FileHeader, stdin int64) int64 {
	for _, file := range files {
		stdin += max(0, file.Size)
	}
	return stdin
}

// discard reads what is still due, so that a worker that is sending gets to the point
// where it reads why its job cannot run.
func (d *dataReader) discard() {
	for d.due > 0 {
		d.rest = nil
		if _, err := d.Read(make([]byte, 1)); err != nil {
			return
		}
	}
}

// Read returns io.ErrUnexpectedEOF when the frames end or another kind comes.
func (d *dataReader) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		kind, payload, err := d.next()
		if errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		if kind != wire.TypeData {
			return 0, fmt.Errorf("frame %q while data is due", byte(kind))
		}
		d.rest = payload
		d.due -= int64(len(payload))
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// placeFiles writes the files below dir, which is empty. Nothing outside it is ever
// touched and no link is followed, because os.Root does neither.
func placeFiles(dir string, files []wire.FileHeader, data io.Reader) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, file := range files {
		if err := placeFile(root, file, data); err != nil {
			return placeError(dir, file, err)
		}
	}
	return nil
}

func placeError(dir string, file wire.FileHeader, err error) error {
	var full syscall.Statfs_t
	if errors.Is(err, syscall.ENOSPC) && syscall.Statfs(dir, &full) == nil {
		return fmt.Errorf("place %q of %d bytes: %s of %d bytes is full: %w", file.Path, file.Size, dir, size(&full), err)
	}
	return fmt.Errorf("place %q: %w", file.Path, err)
}

func placeFile(root *os.Root, file wire.FileHeader, data io.Reader) error {
	if file.Size < 0 {
		return fmt.Errorf("size is %d", file.Size)
	}
	if parent := path.Dir(file.Path); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	mode := os.FileMode(0o644)
	if file.Executable {
		mode = 0o755
	}
	placed, err := root.OpenFile(file.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(placed, data, file.Size)
	return errors.Join(err, placed.Close())
}
