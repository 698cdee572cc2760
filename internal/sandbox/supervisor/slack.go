package supervisor

import (
	"os"
	"runtime"
	"syscall"
)

// Timer slack in nanoseconds: by how much the kernel may let a thread sleep too long.
const (
	// ownSlack is that of this process. While anything is at work Go's monitor thread sleeps for 20 us at a time, which
	// costs more than all else that this process does around a small program; with this it sleeps for longer.
	ownSlack = 1_000_000
	// jobSlack is the kernel's usual one.
	jobSlack = 50_000
)

// coarsenTimers gives all threads of this process their slack. A thread has it from the one that made it, and
// those of the runtime exist already: so the program starts anew, in the same process. Where that does not work,
// everything is slower and as right.
func coarsenTimers() {
	if slack() == ownSlack {
		return
	}
	path, err := os.Executable() // not /proc/self/exe, or it would have the name "exe" in all lists
	if setSlack(ownSlack); err == nil && slack() == ownSlack {
		_ = syscall.Exec(path, os.Args, os.Environ()) //nolint:gosec // itself
	}
}

// withJobSlack calls f, which makes a process, in a thread that has the job's slack.
func withJobSlack(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if slack() == ownSlack {
		setSlack(jobSlack)
		defer setSlack(ownSlack)
	}
	f()
}

func slack() uintptr {
	now, _, _ := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_GET_TIMERSLACK, 0, 0)
	return now
}

// setSlack cannot fail on Linux. Who makes believe to be Linux may not know of it.
func setSlack(nanoseconds uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, nanoseconds, 0)
}
