package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// ownState is what every process of a step inherits from this one and a job can change in it,
// because it has the same user: resource limits, and how its threads are scheduled.
type ownState struct {
	limits  [resourceLimits]syscall.Rlimit
	threads map[int]threadState
}

// threadState holds the answers of the kernel as they are.
type threadState struct {
	scheduling [64]byte
	affinity   [128]byte
	io         uintptr
}

const resourceLimits = 16 // RLIM_NLIMITS

func readOwnState() (ownState, error) {
	s := ownState{threads: map[int]threadState{}}
	for i := range s.limits {
		if err := syscall.Getrlimit(i, &s.limits[i]); err != nil {
			return s, fmt.Errorf("getrlimit %d: %w", i, err)
		}
	}
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return s, fmt.Errorf("list own threads: %w", err)
	}
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil {
			return s, err
		}
		s.threads[id] = readThread(id)
	}
	return s, nil
}

func readThread(id int) (s threadState) {
	// Where a kernel does not answer, nothing can have been set either.
	_, _, _ = syscall.RawSyscall6(sysSchedGetattr, uintptr(id), uintptr(unsafe.Pointer(&s.scheduling)), unsafe.Sizeof(s.scheduling), 0, 0, 0) //nolint:gosec // the kernel's interface
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, uintptr(id), unsafe.Sizeof(s.affinity), uintptr(unsafe.Pointer(&s.affinity))) //nolint:gosec // the kernel's interface
	clear(s.scheduling[24:32])                                                                                                                // the length of a slice, which newer kernels change by themselves
	const process = 1                                                                                                                         // IOPRIO_WHO_PROCESS
	s.io, _, _ = syscall.RawSyscall(sysIoprioGet, process, uintptr(id), 0)
	return s
}

// check tells whether a step has changed anything.
func (s ownState) check() error {
	for i, before := range s.limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(i, &now); err != nil || now != before {
			return fmt.Errorf("resource limit %d of process 1 was changed", i)
		}
	}
	for id, before := range s.threads {
		if readThread(id) != before {
			return fmt.Errorf("scheduling of thread %d of process 1 was changed", id)
		}
	}
	return nil
}

// awaitNoSockets waits a moment for what is still being closed. A connection in TIME-WAIT stays for
// a minute, in the way of whoever wants its port.
func awaitNoSockets() error {
	until := time.Now().Add(socketTime)
	for {
		left, err := socketsLeft()
		if err != nil || left == "" {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("a connection is left: %s", left)
		}
		time.Sleep(time.Millisecond)
	}
}

const socketTime = 200 * time.Millisecond

// socketsLeft returns the line of the kernel's statistics that counts one, or nothing.
func socketsLeft() (string, error) {
	for _, path := range []string{"/proc/self/net/sockstat", "/proc/self/net/sockstat6"} {
		content, err := readSmall(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(content) {
			fields := strings.Fields(line)
			for i := 1; i+1 < len(fields); i += 2 {
				if (fields[i] == "inuse" || fields[i] == "tw") && fields[i+1] != "0" && fields[0] != "sockets:" {
					return strings.TrimSpace(line), nil
				}
			}
		}
	}
	return "", nil
}
