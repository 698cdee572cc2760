package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// awaitNoSockets waits a moment for what is still being closed. A connection in TIME-WAIT stays for
// a minute, in the way of whoever wants its port. count is how many sockets of any kind there were at first.
func awaitNoSockets(count int64) error {
	return await(time.Now().Add(socketTime), func() (string, error) {
		left, err := socketsLeft()
		if err != nil || left != "" {
			return left, err
		}
		now, err := socketCount()
		if err != nil || now == count {
			return "", err
		}
		return fmt.Sprintf("%d sockets where %d were", now, count), nil
	})
}

const socketTime = 200 * time.Millisecond

const socketStatistics = "/proc/self/net/sockstat"

// socketsLeft returns the line of the kernel's statistics that counts one, or that of a Unix socket, which
// may have an abstract name and be on its way from a dead process to another; or nothing.
func socketsLeft() (string, error) {
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
				if (fields[i] == "inuse" || fields[i] == "tw") && fields[i+1] != "0" && fields[0] != "sockets:" {
					return "connection: " + strings.TrimSpace(line), nil
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
