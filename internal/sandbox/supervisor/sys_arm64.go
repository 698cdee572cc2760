package supervisor

// System calls that package syscall does not name, see syscalls(2).
const (
	sysMemfdCreate = 279
	sysCloseRange  = 436
)
