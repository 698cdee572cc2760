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
// and killed.
type posture struct {
	// lines are some of /proc/self/status and what else is text.
	lines   []string
	limits  [resourceLimits]syscall.Rlimit
	threads []scheduling
}

const resourceLimits = 16 // RLIM_NLIMITS

// scheduling is that of a thread.
type scheduling struct {
	thread     uint32
	attributes [56]byte       // struct sched_attr: policy, nice value, priority, utilization
	processors [1024 / 8]byte // cpu_set_t
	priority   uintptr        // of input and output
}

// statusNames are the lines of /proc/self/status that say such things and never change by themselves.
var statusNames = []string{
	"Umask", "TracerPid", "Uid", "Gid", "Groups", "Threads", "SigIgn", "SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
	"NoNewPrivs", "Seccomp", "Seccomp_filters", "Speculation_Store_Bypass", "SpeculationIndirectBranch", "Mems_allowed",
}

// readPosture looks at this process and at its threads, which are no others later.
func readPosture(threads []uint32) (p posture, err error) {
	status, err := readSmall("/proc/self/status")
	if err != nil {
		return p, err
	}
	for line := range strings.Lines(status) {
		if name, _, _ := strings.Cut(line, ":"); slices.Contains(statusNames, name) {
			p.lines = append(p.lines, line)
		}
	}
	score, err := readSmall("/proc/self/oom_score_adj")
	if err != nil {
		return p, err
	}
	dir, err := syscall.Getwd()
	if err != nil {
		return p, fmt.Errorf("getcwd: %w", err)
	}
	p.lines = append(p.lines, "oom_score_adj "+score, "working directory "+dir, "environment "+strings.Join(os.Environ(), "\x00"))
	for resource := range p.limits {
		if err := syscall.Getrlimit(resource, &p.limits[resource]); err != nil {
			return p, fmt.Errorf("getrlimit %d: %w", resource, err)
		}
	}
	for _, thread := range threads {
		found, err := readScheduling(thread)
		if err != nil {
			return p, fmt.Errorf("scheduling of thread %d: %w", thread, err)
		}
		p.threads = append(p.threads, found)
	}
	return p, nil
}

func readScheduling(thread uint32) (s scheduling, err error) {
	const whoProcess = 1 // IOPRIO_WHO_PROCESS
	s.thread = thread
	_, _, errno := syscall.Syscall6(sysSchedGetattr, uintptr(thread), uintptr(unsafe.Pointer(&s.attributes)), uintptr(len(s.attributes)), 0, 0, 0) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return s, fmt.Errorf("sched_getattr: %w", errno)
	}
	_, _, errno = syscall.Syscall(syscall.SYS_SCHED_GETAFFINITY, uintptr(thread), uintptr(len(s.processors)), uintptr(unsafe.Pointer(&s.processors))) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return s, fmt.Errorf("sched_getaffinity: %w", errno)
	}
	if s.priority, _, errno = syscall.Syscall(syscall.SYS_IOPRIO_GET, whoProcess, uintptr(thread), 0); errno != 0 {
		return s, fmt.Errorf("ioprio_get: %w", errno)
	}
	return s, nil
}

// check tells the first difference between p and what is now.
func (p posture) check() error {
	threads := make([]uint32, 0, len(p.threads))
	for _, t := range p.threads {
		threads = append(threads, t.thread)
	}
	now, err := readPosture(threads)
	if err != nil {
		return err
	}
	return p.compare(now)
}

func (p posture) compare(now posture) error {
	if len(now.lines) != len(p.lines) {
		return fmt.Errorf("sandbox-init has other lines in its status: %q", now.lines)
	}
	for i, line := range now.lines {
		if line != p.lines[i] {
			return fmt.Errorf("sandbox-init has %.300q: had %.300q", line, p.lines[i])
		}
	}
	for resource, limit := range now.limits {
		if limit != p.limits[resource] {
			return fmt.Errorf("sandbox-init has resource limit %d at %v: had %v", resource, limit, p.limits[resource])
		}
	}
	for i, thread := range now.threads {
		if thread != p.threads[i] {
			return fmt.Errorf("sandbox-init has scheduling %+v: had %+v", thread, p.threads[i])
		}
	}
	return nil
}
