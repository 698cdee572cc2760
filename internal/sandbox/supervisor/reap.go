package supervisor

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// exit is how the main process of a step ended.
type exit struct {
	status syscall.WaitStatus
	at     time.Time
}

// reaper waits for every process that ends in the sandbox, since all orphans become
// children of process 1.
type reaper struct {
	main chan exit
	// ended is closed when the main process has ended; then main holds how.
	ended chan struct{}
	// gone is closed when no child is left; maxRSS is valid then.
	gone   chan struct{}
	maxRSS int64
}

func startReaper(mainPID int, held *reserve) *reaper {
	r := &reaper{main: make(chan exit, 1), ended: make(chan struct{}), gone: make(chan struct{})}
	go r.run(mainPID, held)
	return r
}

// waitAll is __WALL: also children that were cloned without SIGCHLD.
const waitAll = 0x40000000

func (r *reaper) run(mainPID int, held *reserve) {
	defer close(r.gone)
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, waitAll, &usage)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return // ECHILD
		}
		if !status.Exited() && !status.Signaled() {
			continue // it stopped, which wait tells the tracer: PTRACE_TRACEME makes that this process
		}
		r.maxRSS = max(r.maxRSS, usage.Maxrss*1024)
		if pid == mainPID {
			mainPID = 0    // another process may get the number
			held.release() // first of all: nothing may need memory before
			r.main <- exit{status: status, at: time.Now()}
			close(r.ended)
		}
	}
}

var errNotInit = errors.New("not process 1 of a sandbox")

// killOthers kills every other process of the sandbox. Anywhere but as process 1 it would
// kill every process of the user, and refuses.
func killOthers() error {
	if os.Getpid() != 1 {
		return errNotInit
	}
	if err := syscall.Kill(-1, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		return err
	}
	return nil
}

// killAll kills until nothing is left. One round is enough for all that the kernel lists;
// the rounds after it are for what was between two states.
func (r *reaper) killAll() error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-r.gone:
			return nil
		default:
		}
		if err := killOthers(); err != nil {
			return err
		}
		select {
		case <-r.gone:
			return nil
		case <-ticker.C:
		}
	}
}
