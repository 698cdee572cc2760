package supervisor

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// cleanTime bounds how long the removal of what a test left may take.
const cleanTime = 10 * time.Second

// cleaner removes all that a step can leave in the sandbox and proves that it is gone. It
// is made before any user code has run, and compares with what it found then. What a step
// would change in this process, so that the next inherits it, guardThreads refuses.
type cleaner struct {
	group *cgroup
	dirs  []writable
	wiper wiper // its buffer is for all of them
	// sockets are those that the network namespace had at first.
	sockets sockets
}

// writable is a directory in which a job can make files: the root of a file system, so that
// the job cannot put another in its place. It is not kept open, as this process has no more open files than the job.
type writable struct {
	path string
	// blocks and inodes were free at first; both are 0 where the file system does not count.
	blocks, inodes uint64
}

func newCleaner(group *cgroup) (*cleaner, error) {
	found, err := socketsNow()
	if err != nil {
		return nil, err
	}
	c := &cleaner{group: group, sockets: found}
	for _, path := range []string{workspaceDir, tmpDir, "/dev/shm", "/dev/mqueue"} {
		dir, err := findWritable(path)
		if err != nil {
			return nil, fmt.Errorf("prepare %s for tests: %w", path, err)
		}
		c.dirs = append(c.dirs, dir)
	}
	return c, nil
}

func findWritable(path string) (dir writable, err error) {
	const tmpfs, mqueue = 0x01021994, 0x19800202 // TMPFS_MAGIC, MQUEUE_MAGIC
	fd, err := openat(-1, path)                  // absolute
	if err != nil {
		return dir, err
	}
	defer func() { err = errors.Join(err, syscall.Close(fd)) }()
	dir.path = path
	var found syscall.Statfs_t
	if err := syscall.Fstatfs(fd, &found); err != nil {
		return dir, err
	}
	switch found.Type {
	case tmpfs:
		dir.blocks, dir.inodes = found.Bfree, found.Ffree
	case mqueue:
	default:
		return dir, fmt.Errorf("file system is of type %#x: want tmpfs or mqueue", found.Type)
	}
	names, err := (&wiper{root: fd}).list(fd)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("is not empty: the image brings %.100q", names[0])
	}
	return dir, err
}

// run leaves the sandbox with this process alone and with nothing that a step has made. Its error
// means that this could not be done, or not be proved.
func (c *cleaner) run() error {
	until := time.Now().Add(cleanTime)
	if err := c.killOthers(until); err != nil {
		return err
	}
	if err := awaitNoSockets(c.sockets); err != nil {
		return err
	}
	if err := removeSysV(until); err != nil {
		return err
	}
	for _, dir := range c.dirs {
		if err := c.empty(dir, until); err != nil {
			return fmt.Errorf("empty %s: %w", dir.path, err)
		}
	}
	for _, dir := range c.dirs {
		if err := dir.awaitFree(until); err != nil {
			return fmt.Errorf("empty %s: %w", dir.path, err)
		}
	}
	return nil
}

func (c *cleaner) empty(dir writable, until time.Time) (err error) {
	if c.wiper.root, err = openat(-1, dir.path); err != nil {
		return err
	}
	c.wiper.until = until
	return errors.Join(c.wiper.run(), syscall.Close(c.wiper.root))
}

// killOthers returns once this process is the only one. After a step it is already.
func (c *cleaner) killOthers(until time.Time) error {
	for {
		tasks, err := readInt(filepath.Join(c.group.pids, "pids.current"))
		if err != nil {
			return err
		}
		if tasks == wire.HeadroomPIDs {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("there are %d processes and threads: want %d", tasks, wire.HeadroomPIDs)
		}
		if err := killOthers(); err != nil {
			return err
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG|waitAll, nil); err != nil || pid == 0 {
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// awaitFree waits until the kernel has given back what the file system held: a removed file
// can live on for a moment with a descriptor that is still on its way out.
func (d writable) awaitFree(until time.Time) error {
	for {
		var now syscall.Statfs_t
		if err := syscall.Statfs(d.path, &now); err != nil {
			return err
		}
		if d.inodes == 0 || (now.Bfree == d.blocks && now.Ffree == d.inodes) {
			return nil
		}
		if time.Now().After(until) {
			return errors.New("removed files are still in use")
		}
		time.Sleep(time.Millisecond)
	}
}
