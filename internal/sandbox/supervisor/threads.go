package supervisor

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// startThreads brings this process to exactly n threads. Go keeps threads that
// are idle and takes those before it makes another, so while fewer than n are busy it never makes one
// more: the kernel would refuse it when the job is at its limit of processes, and
// Go's runtime does not survive that.
func startThreads(n int) error {
	// With one processor for Go code a thread that is being made is counted before this
	// function goes on, as it goes on in that thread.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 64 {
		have, err := threadCount()
		if err != nil {
			return err
		}
		if have == n {
			return nil
		}
		if have > n {
			return fmt.Errorf("process has %d threads: want %d", have, n)
		}
		if err := occupyThreads(n); err != nil {
			return err
		}
	}
	return fmt.Errorf("process does not reach %d threads", n)
}

// occupyThreads locks goroutines to threads, one by one, until there are n threads, and lets them go.
func occupyThreads(n int) error {
	release := make(chan struct{})
	var held sync.WaitGroup
	defer held.Wait()
	defer close(release)
	for range n {
		locked := make(chan struct{})
		held.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread() // a locked goroutine that ends takes its thread with it
			close(locked)
			<-release
		})
		<-locked
		have, err := threadCount()
		if err != nil {
			return err
		}
		if have >= n {
			return nil
		}
	}
	return nil
}

// threadCount reads the number without telling Go's scheduler of the system calls. It would let
// another thread run Go code meanwhile, and make that thread if there is none.
func threadCount() (int, error) {
	path := []byte("/proc/self/status\x00")
	var buf [4096]byte
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(^uint(99)), uintptr(unsafe.Pointer(&path[0])), //nolint:gosec // the kernel's interface; -100 is AT_FDCWD
		syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return 0, fmt.Errorf("open /proc/self/status: %w", errno)
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf))) //nolint:gosec // the kernel's interface
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	if errno != 0 {
		return 0, fmt.Errorf("read /proc/self/status: %w", errno)
	}
	count, found := lookupKey(string(buf[:n]), "Threads:")
	if !found {
		return 0, errors.New("/proc/self/status has no Threads")
	}
	return int(count), nil
}
