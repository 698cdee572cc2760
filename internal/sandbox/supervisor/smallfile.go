package supervisor

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

// readSmall reads a file of the kernel of at most 8 KiB. It does without os.File, whose
// registration with the poller costs more than the read of such a file.
func readSmall(path string) (string, error) {
	fd, err := openRetry(path)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	var buf [8192]byte
	filled := 0
	for filled < len(buf) {
		n, err := syscall.Read(fd, buf[filled:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return "", &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			break
		}
		filled += n
	}
	return string(buf[:filled]), nil
}

func openRetry(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// readInt reads a file that holds one number. "max" is -1, and so is what cgroup v1
// writes for no limit: the highest multiple of a page.
func readInt(path string) (int64, error) {
	content, err := readSmall(path)
	if err != nil {
		return 0, err
	}
	content = strings.TrimSpace(content)
	if content == "max" {
		return -1, nil
	}
	value, err := strconv.ParseUint(content, 10, 64)
	if content == "-1" || (err == nil && value >= 1<<62) {
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s holds %q: want a number", path, content)
	}
	return int64(value), nil //nolint:gosec // below 1<<62
}

// readKey reads the number after a key in a file of lines "key number".
func readKey(path, key string) (int64, error) {
	content, err := readSmall(path)
	if err != nil {
		return 0, err
	}
	value, found := lookupKey(content, key)
	if !found {
		return 0, fmt.Errorf("%s has no %s", path, key)
	}
	return value, nil
}

func lookupKey(content, key string) (int64, bool) {
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[0] != key {
			continue
		}
		value, err := strconv.ParseInt(fields[1], 10, 64)
		return value, err == nil
	}
	return 0, false
}
