package supervisor

import (
	"fmt"
	"sync"
	"syscall"
)

// reserve is memory that this process holds while user code runs and gives back the moment
// the main process ends. A job can fill the container's memory with files, which no kill
// frees; then process 1 would be the next to be killed, and its report lost.
type reserve struct {
	mu     sync.Mutex
	memory []byte
}

const reserveSize = 2 << 20

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

// release gives the memory back. It can be called more than once.
func (r *reserve) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory != nil {
		_ = syscall.Munmap(r.memory) // cannot fail for what Mmap returned
		r.memory = nil
	}
}
