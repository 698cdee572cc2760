package supervisor

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// oomFile is /proc/self/oom_score_adj. It is opened before the process becomes not dumpable,
// because after that its files in /proc belong to root.
type oomFile struct {
	fd  int
	own string
}

// jobScore makes the kernel kill the job rather than process 1 when memory runs out.
const jobScore = 500

func openOOM() (*oomFile, error) {
	// A program that its user cannot read, as sandbox-init is in the volume, starts not dumpable.
	if err := setDumpable(1); err != nil {
		return nil, err
	}
	const path = "/proc/self/oom_score_adj"
	own, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &oomFile{fd: fd, own: strings.TrimSpace(own)}, nil
}

// raise gives this process the job's score, which a child inherits, so that there is
// no moment in which the child has a lower one.
func (f *oomFile) raise() error {
	own, err := strconv.Atoi(f.own)
	if err != nil {
		return fmt.Errorf("oom_score_adj is %q: %w", f.own, err)
	}
	return f.write(strconv.Itoa(min(1000, own+jobScore)))
}

// lower gives this process its own score back.
func (f *oomFile) lower() error { return f.write(f.own) }

func (f *oomFile) write(score string) error {
	if _, err := syscall.Pwrite(f.fd, []byte(score), 0); err != nil {
		return fmt.Errorf("write %s to oom_score_adj: %w", score, err)
	}
	return nil
}

// harden shuts this process off from the job, which has the same user.
func harden() error {
	// Not dumpable: the job cannot open /proc/1/mem and /proc/1/fd nor trace process 1, so it
	// can neither read the key nor write frames of its own.
	if err := setDumpable(0); err != nil {
		return err
	}
	if err := dropSignals(); err != nil {
		return err
	}
	// Whatever the container runtime left open must not reach the job.
	const first, last, cloexec = 3, ^uintptr(0) >> 32, 4 // CLOSE_RANGE_CLOEXEC
	_, _, errno := syscall.RawSyscall(sysCloseRange, first, last, cloexec)
	if errno == syscall.ENOSYS || errno == syscall.EPERM || errno == syscall.EINVAL {
		for fd := first; fd < 1024; fd++ { // before Linux 5.11
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// setDumpable tells whether files of this process in /proc are its user's, and others of that user may trace it: 1, or 0.
func setDumpable(dumpable uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, dumpable, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("prctl PR_SET_DUMPABLE %d: %w", dumpable, errno)
	}
	return nil
}

// dropSignals sets every signal to its default action, past Go's runtime. The kernel drops a
// signal with a default action that is sent to process 1 from inside its namespace, whatever
// the sender claims it to be; Go's own handlers would crash on a forged SIGSEGV. It also
// gives the job's processes the defaults, which ignored signals would not. SIGPIPE alone is ignored.
func dropSignals() error {
	const signals, setBytes = 64, 8
	var action [4]uint64 // struct sigaction of the kernel: handler, flags, restorer, mask; all 0 is SIG_DFL
	const ignored = 1    // SIG_IGN
	for number := uintptr(1); number <= signals; number++ {
		if number == uintptr(syscall.SIGKILL) || number == uintptr(syscall.SIGSTOP) {
			continue
		}
		// A program that closes its stdin must not end this process on kernels that do not spare process 1. Go gives
		// a child the default again for every signal that it had a handler for.
		if action[0] = 0; number == uintptr(syscall.SIGPIPE) {
			action[0] = ignored
		}
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, number,
			uintptr(unsafe.Pointer(&action)), 0, setBytes, 0, 0) //nolint:gosec // the kernel's interface
		if errno != 0 {
			return fmt.Errorf("rt_sigaction %d: %w", number, errno)
		}
	}
	return nil
}
