package supervisor

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"
)

// emptiness is what the sandbox was like before any user code ran in it, with which it is compared before it
// is given another job. It goes beyond what a cleaner does between the tests of one program.
//
// File locks need no look of their own: each belongs to a process or to an open file, and where no process is
// and no socket that a file could be on its way through, no file is open; guardThreads refuses the one other way,
// io_uring. (A look at /proc/locks makes the kernel wait for as long as a small program runs.)
type emptiness struct {
	clean  *cleaner
	limits cgroupLimits
	own    posture
	// memory was in use and cannot be taken back by the kernel at will.
	memory int64
	// oomKills and pidsDenied are not differences: one that happened in any step counts.
	oomKills, pidsDenied int64
}

// memorySlack is by how much the memory in use may differ without anything of a job in it: this
// process's own heap, and what the kernel remembers of paths.
const memorySlack = 16 << 20

// settleTime bounds the wait for what the kernel still gives back.
const settleTime = 500 * time.Millisecond

func newEmptiness(clean *cleaner) (*emptiness, error) {
	limits, err := clean.group.limits()
	if err != nil {
		return nil, err
	}
	e := &emptiness{clean: clean, limits: limits}
	threads, err := threadIDs()
	if err != nil {
		return nil, err
	}
	if e.own, err = readPosture(threads); err != nil {
		return nil, err
	}
	if e.memory, err = clean.group.memoryHeld(); err != nil {
		return nil, err
	}
	if e.oomKills, err = clean.group.oomKills(); err != nil {
		return nil, err
	}
	e.pidsDenied, err = clean.group.pidsDenied()
	return e, err
}

// restore makes the sandbox what it was. Its error means that this could not be done, or not be proved.
func (e *emptiness) restore() error {
	if err := e.counted(); err != nil {
		return err
	}
	if err := e.clean.run(); err != nil {
		return err
	}
	if err := await(time.Now().Add(settleTime), e.memoryLeft); err != nil {
		return err
	}
	if err := e.own.check(); err != nil {
		return err
	}
	if err := e.counted(); err != nil { // while processes were on their way out
		return err
	}
	limits, err := e.clean.group.limits()
	if err == nil && limits != e.limits {
		err = fmt.Errorf("the kernel enforces %+v: enforced %+v", limits, e.limits)
	}
	return err
}

// counted tells whether the kernel killed or refused anything. A job under pressure from its limits may have
// put this process under it too.
func (e *emptiness) counted() error {
	kills, err := e.clean.group.oomKills()
	if err != nil {
		return err
	}
	denied, err := e.clean.group.pidsDenied()
	if err != nil {
		return err
	}
	if kills != e.oomKills || denied != e.pidsDenied {
		return fmt.Errorf("the kernel killed %d processes for the memory limit and refused %d", kills-e.oomKills, denied-e.pidsDenied)
	}
	return nil
}

// memoryLeft tells how much more memory is in use than at first, or nothing.
func (e *emptiness) memoryLeft() (string, error) {
	held, err := e.clean.group.memoryHeld()
	if err != nil || held <= e.memory+memorySlack {
		return "", err
	}
	debug.FreeOSMemory() // perhaps it is what this process kept of the job's output
	if held, err = e.clean.group.memoryHeld(); err != nil || held <= e.memory+memorySlack {
		return "", err
	}
	return fmt.Sprintf("memory of %d bytes where %d were in use", held, e.memory), nil
}

// memoryHeld is the memory in use without what are copies of files of the image, which the
// kernel drops when somebody needs the memory.
func (c *cgroup) memoryHeld() (int64, error) {
	used, err := c.memoryUsage()
	if err != nil {
		return 0, err
	}
	path := filepath.Join(c.memory, "memory.stat")
	content, err := readSmall(path)
	if err != nil {
		return 0, err
	}
	for _, key := range []string{"inactive_file", "active_file"} {
		bytes, found := lookupKey(content, key)
		if !found {
			return 0, fmt.Errorf("%s has no %s", path, key)
		}
		used -= bytes
	}
	return used, nil
}
