package supervisor

import "syscall"

// smallPages is the size in bytes up to which the heap is good enough.
const smallPages = 64 << 10

// newPages returns an empty slice with room for size bytes. Large ones lie outside of the heap: their memory is taken
// page by page as it is written to, and is back the moment that it is freed. The heap would keep what one test wrote, and clear
// even what none does, and the next test would have that much less of its memory limit.
func newPages(size int) []byte {
	if size > smallPages {
		pages, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err == nil {
			return pages[:0]
		}
	}
	return make([]byte, 0, size)
}

// freePages gives back what newPages returned, however much of it is used.
func freePages(pages []byte) {
	if cap(pages) > smallPages {
		_ = syscall.Munmap(pages[:cap(pages)]) // refuses what lies in the heap after all
	}
}
