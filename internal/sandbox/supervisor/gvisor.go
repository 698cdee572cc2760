package supervisor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// errGVisor is why no sandbox on gVisor is used twice: it lists neither sockets nor System V objects nor message queues.
var errGVisor = errors.New("gVisor does not show all that a program can leave")

// onGVisor tells whether the kernel is gVisor's.
func onGVisor() (bool, error) {
	version, err := readSmall("/proc/version")
	return isGVisor(version), err
}

// isGVisor knows gVisor's kernel by /proc/version, which no program in the sandbox can change.
func isGVisor(version string) bool {
	fields := strings.Fields(version) // Linux version 4.19.0-gvisor #1 SMP ...
	return len(fields) > 2 && strings.HasSuffix(fields[2], "-gvisor")
}

// completeStatus adds to the fields of /proc/self/status what gVisor leaves out and tells otherwise.
func completeStatus(fields map[string][]string) error {
	const getNoNewPrivs = 39 // PR_GET_NO_NEW_PRIVS
	if fields["NoNewPrivs"] == nil {
		set, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, getNoNewPrivs, 0, 0, 0, 0, 0)
		if errno != 0 {
			return fmt.Errorf("prctl PR_GET_NO_NEW_PRIVS: %w", errno)
		}
		fields["NoNewPrivs"] = []string{strconv.Itoa(int(set))}
	}
	if fields["CapAmb"] == nil { // a part of the permitted ones by definition
		fields["CapAmb"] = fields["CapPrm"]
	}
	return nil
}

// interfacesOfGVisor names the interfaces other than loopback. There is no /sys/class/net, and the list that there is does not tell
// which are up.
func interfacesOfGVisor(path string) ([]string, error) {
	content, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	var names []string
	for line := range strings.Lines(content) {
		name, _, isInterface := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); isInterface && name != "lo" {
			names = append(names, name)
		}
	}
	return names, nil
}
