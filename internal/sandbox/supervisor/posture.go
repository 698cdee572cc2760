package supervisor

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// posture is what processes of a job inherit from this one and what decides how it is scheduled, limited
// and killed, one line for each.
type posture []string

// statusNames are the lines of /proc/self/status that say such things and never change by themselves.
var statusNames = []string{
	"Umask", "TracerPid", "Uid", "Gid", "Groups", "Threads", "SigIgn", "SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
	"NoNewPrivs", "Seccomp", "Seccomp_filters", "Speculation_Store_Bypass", "SpeculationIndirectBranch", "Mems_allowed",
}

func readPosture() (posture, error) {
	var p posture
	status, err := readSmall("/proc/self/status")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(status) {
		if name, _, _ := strings.Cut(line, ":"); slices.Contains(statusNames, name) {
			p = append(p, strings.TrimSpace(line))
		}
	}
	score, err := readSmall("/proc/self/oom_score_adj")
	if err != nil {
		return nil, err
	}
	dir, err := syscall.Getwd()
	if err != nil {
		return nil, fmt.Errorf("getcwd: %w", err)
	}
	p = append(p, "oom_score_adj "+strings.TrimSpace(score), "working directory "+dir, "environment "+strings.Join(os.Environ(), "\x00"))
	const resources = 16 // RLIM_NLIMITS
	for resource := range resources {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(resource, &limit); err != nil {
			return nil, fmt.Errorf("getrlimit %d: %w", resource, err)
		}
		p = append(p, fmt.Sprintf("resource limit %d: %d %d", resource, limit.Cur, limit.Max))
	}
	threads, err := threadIDs()
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		line, err := scheduling(thread)
		if err != nil {
			return nil, fmt.Errorf("scheduling of thread %d: %w", thread, err)
		}
		p = append(p, line)
	}
	return p, nil
}

// scheduling has the policy, nice value, processors and input/output priority of a thread.
func scheduling(thread uint32) (string, error) {
	const whoProcess = 1                                                                                                                       // IOPRIO_WHO_PROCESS
	var attributes [56]byte                                                                                                                    // struct sched_attr
	var processors [1024 / 8]byte                                                                                                              // cpu_set_t
	_, _, errno := syscall.Syscall6(sysSchedGetattr, uintptr(thread), uintptr(unsafe.Pointer(&attributes)), uintptr(len(attributes)), 0, 0, 0) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return "", fmt.Errorf("sched_getattr: %w", errno)
	}
	size, _, errno := syscall.Syscall(syscall.SYS_SCHED_GETAFFINITY, uintptr(thread), uintptr(len(processors)), uintptr(unsafe.Pointer(&processors))) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return "", fmt.Errorf("sched_getaffinity: %w", errno)
	}
	priority, _, errno := syscall.Syscall(syscall.SYS_IOPRIO_GET, whoProcess, uintptr(thread), 0)
	if errno != 0 {
		return "", fmt.Errorf("ioprio_get: %w", errno)
	}
	return fmt.Sprintf("thread %d: scheduling %x, processors %x, input/output priority %d", thread, attributes, processors[:size], priority), nil
}

// compare tells the first difference between p and what is now.
func (p posture) compare() error {
	now, err := readPosture()
	if err != nil {
		return err
	}
	for i, line := range now {
		if i >= len(p) || line != p[i] {
			return fmt.Errorf("sandbox-init has now %.300q", line)
		}
	}
	if len(now) != len(p) {
		return fmt.Errorf("sandbox-init has not %.300q any more", p[len(now)])
	}
	return nil
}
