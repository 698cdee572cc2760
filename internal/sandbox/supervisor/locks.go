package supervisor

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// lockLeft returns a line of /proc/locks about a lock that somebody in this container holds, or nothing. The
// kernel lists only those whose owner is in the reader's own PID namespace, and those of open file descriptions
// (OFD), which have no owner, of everybody.
func lockLeft(devices map[string]bool) (string, error) {
	file, err := os.Open("/proc/locks")
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		owner, device, err := parseLock(lines.Text())
		if err != nil {
			return "", err
		}
		if owner != "-1" || devices[device] {
			return "lock " + lines.Text(), nil
		}
	}
	return "", lines.Err()
}

// parseLock takes owner and device out of "1: OFDLCK ADVISORY  READ -1 fe:00:10078505 100 EOF".
func parseLock(line string) (owner, device string, err error) {
	fields := strings.Fields(line)
	for i := 1; i < len(fields); i++ {
		if parts := strings.Split(fields[i], ":"); len(parts) == 3 {
			return fields[i-1], parts[0] + ":" + parts[1], nil
		}
	}
	return "", "", fmt.Errorf("/proc/locks has the line %q", line)
}
