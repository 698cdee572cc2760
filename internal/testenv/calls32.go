package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// caller is an ELF program for x86-64 that makes the 32-bit call getpid, and then ends with status 0.
var caller = []byte("\x7fELF\x02\x01\x01" + zeros(9) + // 64 bits, little-endian, version 1
	"\x02\x00\x3e\x00\x01\x00\x00\x00" + // executable, x86-64, version 1
	"\x78\x00\x40" + zeros(5) + "\x40" + zeros(7) + zeros(8) + // entry 0x400078, program headers at 64, no sections
	zeros(4) + "\x40\x00\x38\x00\x01\x00" + zeros(6) + // sizes of both headers, one program header
	"\x01\x00\x00\x00\x05\x00\x00\x00" + zeros(8) + // load it all, to read and execute
	"\x00\x00\x40" + zeros(5) + "\x00\x00\x40" + zeros(5) + // at 0x400000
	"\x88" + zeros(7) + "\x88" + zeros(7) + "\x00\x10" + zeros(6) + // 136 bytes, in pages
	"\xb8\x14\x00\x00\x00\xcd\x80" + // mov $20, %eax; int $0x80
	"\xb8\x3c\x00\x00\x00\x31\xff\x0f\x05") // mov $60, %eax; xor %edi, %edi; syscall

func zeros(n int) string { return string(make([]byte, n)) }

// Calls32 tells whether the kernel of this machine, which is x86-64, has 32-bit system calls. Where it has none,
// a program that makes one gets SIGSEGV.
func Calls32(t testing.TB) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "caller")
	require.NoError(t, os.WriteFile(path, caller, 0o700)) //nolint:gosec // it is a program
	err := exec.CommandContext(t.Context(), path).Run()   //nolint:gosec // the program above
	if err == nil {
		return true
	}
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	status, ok := exit.Sys().(syscall.WaitStatus)
	require.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGSEGV, "%v", err)
	return false
}
