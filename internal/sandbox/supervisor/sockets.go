package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// awaitNoSockets waits a moment for what is still being closed. A connection in TIME-WAIT stays for
// a minute, in the way of whoever wants its port. count is how many sockets of any kind there were at first.
func awaitNoSockets(count int64) error {
	return await(time.Now().Add(socketTime), func() (string, error) {
		left, err := socketsLeft(count)
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

const (
	socketTime       = 200 * time.Millisecond
	socketStatistics = "/proc/self/net/sockstat"
)

// socketsLeft returns the line of the kernel's statistics that counts more than there should be, or that of
// a Unix socket, which may have an abstract name and be on its way from a dead process to another; or nothing.
func socketsLeft(count int64) (string, error) {
	for _, path := range []string{socketStatistics, "/proc/self/net/sockstat6"} {
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
				wanted := "0"
				switch {
				case fields[0] == "sockets:" && fields[i] == "used":
					wanted = strconv.FormatInt(count, 10)
				case fields[0] == "sockets:" || (fields[i] != "inuse" && fields[i] != "tw"):
					continue
				}
				if fields[i+1] != wanted {
					return fmt.Sprintf("connection: %s where %s were %s", strings.TrimSpace(line), wanted, fields[i]), nil
				}
			}
		}
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

// socketCount is how many sockets of any kind the network namespace has.
func socketCount() (int64, error) {
	content, err := readSmall(socketStatistics)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(content, "\n")
	count, found := lookupKey(strings.TrimPrefix(line, "sockets:"), "used")
	if !found {
		return 0, fmt.Errorf("%s starts with %q", socketStatistics, line)
	}
	return count, nil
}
