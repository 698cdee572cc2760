//go:build unix

package batch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the file for this process until unlock, which the end of the process does too.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

// unlock gives the file up. Closing it is not enough: a child that this process is just starting has it open until it
// has become another program.
func unlock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_UN) }
