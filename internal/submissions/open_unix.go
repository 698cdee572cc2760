//go:build unix

package submissions

import (
	"os"
	"syscall"
)

// openOnly opens for reading what is no link, and does not wait for the writer of a FIFO.
const openOnly = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW
