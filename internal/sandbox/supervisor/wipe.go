package supervisor

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

var errTooLong = errors.New("takes too long")

// wiper empties one directory, whatever hostile code has left in it: a tree of any depth and
// width, with any modes. It needs no more than two descriptors and one buffer for that. No process
// may run meanwhile.
type wiper struct {
	root  int // descriptor of the directory
	until time.Time
	moved int
	buf   [32 << 10]byte
}

// run removes all that is in the directory. Without an error it is empty.
func (w *wiper) run() error {
	for {
		names, err := w.list(w.root)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := w.remove(name); err != nil {
				return err
			}
		}
	}
}

// remove removes an entry of the root.
func (w *wiper) remove(name string) error {
	gone, err := w.unlink(w.root, name)
	if gone || err != nil {
		return err
	}
	fd, err := openat(w.root, name)
	if err != nil {
		return fmt.Errorf("open directory %.100q: %w", name, err)
	}
	err = w.empty(fd)
	if err := errors.Join(err, syscall.Close(fd)); err != nil {
		return err
	}
	return rmdir(w.root, name)
}

// empty removes what is in a directory of the root; the directories in it that are not empty
// move up into the root, so that no tree is too deep.
func (w *wiper) empty(fd int) error {
	for {
		names, err := w.list(fd)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			gone, err := w.unlink(fd, name)
			if err != nil {
				return err
			}
			if !gone {
				if err := w.raise(fd, name); err != nil {
					return err
				}
			}
		}
	}
}

// unlink removes what is not a directory with something in it, and else makes it one that can be read and written.
func (w *wiper) unlink(dir int, name string) (gone bool, err error) {
	if time.Now().After(w.until) {
		return false, errTooLong
	}
	err = syscall.Unlinkat(dir, name)
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.EPERM) {
		err = rmdir(dir, name)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST):
		return false, syscall.Fchmodat(dir, name, 0o700, 0)
	default:
		return false, fmt.Errorf("remove %.100q: %w", name, err)
	}
}

// raise moves a directory up into the root, under a name that is free there.
func (w *wiper) raise(dir int, name string) error {
	for {
		w.moved++
		err := syscall.Renameat(dir, name, w.root, ".wipe-"+strconv.Itoa(w.moved))
		if err != syscall.ENOTEMPTY && err != syscall.EEXIST && err != syscall.ENOTDIR {
			return err
		}
		if time.Now().After(w.until) {
			return errTooLong
		}
	}
}

// list returns some of the names in a directory, and none only if it is empty.
func (w *wiper) list(dir int) ([]string, error) {
	if _, err := syscall.Seek(dir, 0, 0); err != nil {
		return nil, fmt.Errorf("rewind directory: %w", err)
	}
	for {
		n, err := syscall.ReadDirent(dir, w.buf[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list directory: %w", err)
		}
		_, _, names := syscall.ParseDirent(w.buf[:n], -1, nil)
		if n == 0 || len(names) > 0 {
			return names, nil
		}
	}
}

func openat(dir int, name string) (int, error) {
	for {
		fd, err := syscall.Openat(dir, name, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

func rmdir(dir int, name string) error {
	const removeDir = 0x200 // AT_REMOVEDIR
	path, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall(syscall.SYS_UNLINKAT, uintptr(dir), uintptr(unsafe.Pointer(path)), removeDir) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return errno
	}
	return nil
}
