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
// starts, so that reading to the end always ends. No input is /dev/null.
type input struct{ memory *os.File }

// newInput copies size bytes of r into memory and makes them unchangeable.
func newInput(r io.Reader, size int64) (*input, error) {
	if size == 0 {
		return &input{}, nil
	}
	const cloexec, allowSealing = 1, 2 // MFD_CLOEXEC, MFD_ALLOW_SEALING
	name := []byte("stdin\x00")
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name[0])), cloexec|allowSealing, 0) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return nil, fmt.Errorf("memfd_create: %w", errno)
	}
	memory := os.NewFile(fd, "stdin")
	if _, err := io.CopyN(memory, r, size); err != nil {
		return nil, errors.Join(fmt.Errorf("copy stdin of %d bytes: %w", size, err), memory.Close())
	}
	const addSeals, all = 1033, 0x1 | 0x2 | 0x4 | 0x8 // F_ADD_SEALS: SEAL, SHRINK, GROW, WRITE
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, addSeals, all); errno != 0 {
		return nil, errors.Join(fmt.Errorf("seal stdin: %w", errno), memory.Close())
	}
	return &input{memory: memory}, nil
}

// open returns a descriptor at offset 0 for one step. Each has its own offset and is read-only,
// which a program that maps its stdin needs on older kernels.
func (in *input) open(wanted bool) (*os.File, error) {
	if !wanted || in.memory == nil {
		return os.Open(os.DevNull)
	}
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(in.memory.Fd())), os.O_RDONLY, 0)
}
