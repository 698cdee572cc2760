package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"
)

// sockets are the kernel's counts of a network namespace by what they count: sockets of any kind, and of each protocol those in use and in
// TIME-WAIT. Some are there from the start where Docker resolves names for the sandbox.
type sockets map[string]string

// awaitNoSockets waits a moment for what is still being closed. A connection in TIME-WAIT stays for
// a minute, in the way of whoever wants its port.
func awaitNoSockets(before sockets) error {
	return await(time.Now().Add(socketTime), func() (string, error) {
		left, err := socketsLeft(before)
		if left != "" {
			err = errors.Join(err, collectSockets())
		}
		return left, err
	})
}

// collectSockets makes the kernel look for sockets that are only on their way to each other. It does so when
// a Unix socket is closed.
func collectSockets() error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make a socket: %w", err)
	}
	return syscall.Close(fd)
}

const socketTime = 200 * time.Millisecond

// countSockets calls found with each of the counts, and the line that it stands in.
func countSockets(found func(what, count, line string)) error {
	for _, path := range []string{"/proc/self/net/sockstat", "/proc/self/net/sockstat6"} {
		content, err := readSmall(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(content) {
			fields := strings.Fields(line)
			for i := 1; i+1 < len(fields); i += 2 {
				if name := fields[i]; name == "used" || name == "inuse" || name == "tw" {
					found(fields[0]+" "+name, fields[i+1], strings.TrimSpace(line))
				}
			}
		}
	}
	return nil
}

// socketsNow are the counts of this moment.
func socketsNow() (sockets, error) {
	now := sockets{}
	err := countSockets(func(what, count, _ string) { now[what] = count })
	return now, err
}

// socketsLeft returns the line of the kernel's statistics that counts other than before, or that of
// a Unix socket, which may have an abstract name and be on its way from a dead process to another; or nothing.
func socketsLeft(before sockets) (left string, err error) {
	err = countSockets(func(what, count, line string) {
		if left == "" && count != before[what] {
			left = fmt.Sprintf("connection: %s where %s were %s", line, before[what], what)
		}
	})
	if left != "" || err != nil {
		return left, err
	}
	content, err := readSmall("/proc/self/net/unix")
	if err != nil {
		return "", err
	}
	if _, rows, _ := strings.Cut(content, "\n"); rows != "" {
		return fmt.Sprintf("Unix socket: %.200q", rows), nil
	}
	return "", nil
}
