package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// awaitNoSockets waits a moment for what is still being closed. A connection in TIME-WAIT stays for
// a minute, in the way of whoever wants its port.
func awaitNoSockets() error {
	until := time.Now().Add(socketTime)
	for {
		left, err := socketsLeft()
		if err != nil || left == "" {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("a connection is left: %s", left)
		}
		time.Sleep(time.Millisecond)
	}
}

const socketTime = 200 * time.Millisecond

// socketsLeft returns the line of the kernel's statistics that counts one, or nothing.
func socketsLeft() (string, error) {
	for _, path := range []string{"/proc/self/net/sockstat", "/proc/self/net/sockstat6"} {
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
					return strings.TrimSpace(line), nil
				}
			}
		}
	}
	return "", nil
}
