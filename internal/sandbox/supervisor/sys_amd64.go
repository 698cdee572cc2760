package supervisor

// System calls that package syscall does not name, see syscalls(2).
const (
	sysMemfdCreate = 319
	sysCloseRange  = 436
)
