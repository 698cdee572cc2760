package supervisor

import (
	"fmt"
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

// launcher makes the job's processes. It is a thread of its own, which has the scheduling that they inherit.
type launcher chan func()

// jobNice is the lowest there is. Among themselves a job's processes share the container's processors as ever, and
// process 1 comes before all of them, so that a limit is enforced in time with as many at work as the job may have.
const jobNice = 19

// newLauncher starts the thread, which stays until the process ends. It has to be there before others are counted.
func newLauncher() (launcher, error) {
	l, ready := make(launcher), make(chan error)
	go func() {
		runtime.LockOSThread()
		setSlack(jobSlack)
		ready <- syscall.Setpriority(syscall.PRIO_PROCESS, 0, jobNice)
		for f := range l {
			f()
		}
	}()
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("lower the priority of jobs: %w", err)
	}
	return l, nil
}

// do calls f in the launcher's thread.
func (l launcher) do(f func()) {
	done := make(chan struct{})
	l <- func() {
		defer close(done)
		f()
	}
	<-done
}

func slack() uintptr {
	now, _, _ := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_GET_TIMERSLACK, 0, 0)
	return now
}

// setSlack cannot fail on Linux. Who makes believe to be Linux may not know of it.
func setSlack(nanoseconds uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, nanoseconds, 0)
}
