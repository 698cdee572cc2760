package supervisor

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// sysvKinds are the kinds of System V objects, each with the file that lists those of the
// container's own namespace and the call that removes one.
var sysvKinds = []struct {
	list string
	trap uintptr
}{
	{"/proc/sysvipc/shm", syscall.SYS_SHMCTL},
	{"/proc/sysvipc/msg", syscall.SYS_MSGCTL},
	{"/proc/sysvipc/sem", syscall.SYS_SEMCTL},
}

// removeSysV removes shared memory, message queues and semaphores, which outlive their processes.
// Without an error none is left.
func removeSysV(until time.Time) error {
	for _, kind := range sysvKinds {
		for {
			ids, err := sysvIDs(kind.list)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			for _, id := range ids {
				// IPC_RMID is 0, and so is the number of the semaphore that semctl wants before it.
				_, _, errno := syscall.Syscall6(kind.trap, uintptr(id), 0, 0, 0, 0, 0)
				if errno != 0 && errno != syscall.EINVAL && errno != syscall.EIDRM {
					return fmt.Errorf("remove %d of %s: %w", id, kind.list, errno)
				}
			}
			if time.Now().After(until) {
				return fmt.Errorf("remove all of %s: %w", kind.list, errTooLong)
			}
		}
	}
	return nil
}

// sysvIDs returns the first ids of a list in /proc/sysvipc: the second column below a heading.
func sysvIDs(path string) ([]int, error) {
	content, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	_, rows, found := strings.Cut(content, "\n")
	if !found {
		return nil, fmt.Errorf("%s has no heading", path)
	}
	var ids []int
	for row := range strings.Lines(rows) {
		if !strings.HasSuffix(row, "\n") {
			break // cut at the end of what was read; it comes first the next time
		}
		var key, id int
		if _, err := fmt.Sscan(row, &key, &id); err != nil {
			return nil, errors.Join(fmt.Errorf("%s has the line %q", path, row), err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
