package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// input is what steps read as stdin: a sealed file in memory, complete before any step
// starts, so that reading to the end always ends, or the feed of a test that talks. No input is /dev/null.
type input struct {
	memory *os.File
	feed   *feed
}

// newInput copies size bytes of r into memory and makes them unchangeable.
func newInput(r io.Reader, size int64) (*input, error) {
	if size == 0 {
		return &input{}, nil
	}
	memory, err := newMemory("stdin")
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(memory, r, size); err != nil {
		return nil, errors.Join(fmt.Errorf("copy stdin of %d bytes: %w", size, err), memory.Close())
	}
	if err := seal(memory); err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	return &input{memory: memory}, nil
}

// open returns a descriptor at offset 0 for one step. Each has its own offset and is read-only,
// which a program that maps its stdin needs on older kernels.
func (in *input) open(wanted bool) (*os.File, error) {
	if in.feed != nil {
		return in.feed.open()
	}
	if !wanted || in.memory == nil {
		return os.Open(os.DevNull)
	}
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(in.memory.Fd())), os.O_RDONLY, 0)
}

// close gives the memory back once no program has it open.
func (in *input) close() error {
	if in.feed != nil {
		in.feed.close()
	}
	if in.memory == nil {
		return nil
	}
	return in.memory.Close()
}

// newMemory makes an empty file in memory, which the container's memory limit counts.
func newMemory(name string) (*os.File, error) {
	const cloexec, allowSealing = 1, 2 // MFD_CLOEXEC, MFD_ALLOW_SEALING
	path := []byte(name + "\x00")
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&path[0])), cloexec|allowSealing, 0) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return nil, fmt.Errorf("memfd_create %s: %w", name, errno)
	}
	return os.NewFile(fd, name), nil
}

// seal makes a file in memory unchangeable, also for whoever can open it.
func seal(memory *os.File) error {
	const addSeals, all = 1033, 0x1 | 0x2 | 0x4 | 0x8 // F_ADD_SEALS: SEAL, SHRINK, GROW, WRITE
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, memory.Fd(), addSeals, all); errno != 0 {
		return fmt.Errorf("seal %s: %w", memory.Name(), errno)
	}
	return nil
}
