package supervisor

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// reserve is memory that this process holds while user code runs and gives back when the main process
// has ended and little else is left. A job can fill the container's memory with files, which no kill
// frees; then process 1 would be the next to be killed, and its report lost.
type reserve struct {
	usage int // descriptor of the file that tells the memory in use
	limit int64

	mu     sync.Mutex
	memory []byte
}

const (
	reserveSize = 2 << 20
	// enough is so much free memory that the reserve can stay where it is: to take it costs as much as a small program.
	enough = 4 * reserveSize
)

// newReserve takes the reserve of a container. Its limit is to be set before user code runs.
func newReserve(group *cgroup) (*reserve, error) {
	usage, err := openRetry(group.memoryUsageFile())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", group.memoryUsageFile(), err)
	}
	r := &reserve{usage: usage}
	return r, r.take()
}

// take fills the reserve again. It must not be called while user code runs.
func (r *reserve) take() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory != nil {
		return nil
	}
	memory, err := syscall.Mmap(-1, 0, reserveSize, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_POPULATE)
	if err != nil {
		return fmt.Errorf("reserve %d bytes: %w", reserveSize, err)
	}
	r.memory = memory
	return nil
}

// release gives the memory back if there is not enough of it. It can be called more than once.
func (r *reserve) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory != nil && !r.plenty() {
		_ = syscall.Munmap(r.memory) // cannot fail for what Mmap returned
		r.memory = nil
	}
}

// plenty tells whether there is enough free memory. In doubt there is not.
func (r *reserve) plenty() bool {
	var buf [32]byte
	n, err := syscall.Pread(r.usage, buf[:], 0)
	if err != nil {
		return false
	}
	used, err := strconv.ParseInt(strings.TrimSpace(string(buf[:n])), 10, 64)
	return err == nil && r.limit-used >= enough
}
