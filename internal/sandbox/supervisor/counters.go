package supervisor

import (
	"errors"
	"syscall"
	"time"
)

// counters are taken before and after a step; the step's part is the difference.
type counters struct {
	// cpu is the whole container's without this process's own, so that it is the job's.
	cpu          time.Duration
	user, system time.Duration
	peak         int64
	oomKills     int64
	pidsDenied   int64
}

func (c *cgroup) counters() (n counters, err error) {
	var errs [5]error
	n.cpu, errs[0] = c.jobCPU()
	n.user, n.system, errs[1] = c.cpuSplit()
	n.peak, errs[2] = c.memoryPeak()
	n.oomKills, errs[3] = c.oomKills()
	n.pidsDenied, errs[4] = c.pidsDenied()
	return n, errors.Join(errs[:]...)
}

// jobCPU is the CPU time of the container less that of this process.
func (c *cgroup) jobCPU() (time.Duration, error) {
	all, err := c.cpuUsage()
	if err != nil {
		return 0, err
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, err
	}
	return all - time.Duration(own.Utime.Nano()+own.Stime.Nano()), nil
}

// since is what was used between before and n. The exact total is split by the ratio
// of user and system time, which some kernels only sample.
func (n counters) since(before counters) counters {
	used := counters{
		cpu:        max(0, n.cpu-before.cpu),
		oomKills:   n.oomKills - before.oomKills,
		pidsDenied: n.pidsDenied - before.pidsDenied,
	}
	if n.peak > before.peak {
		used.peak = n.peak
	}
	user, system := n.user-before.user, n.system-before.system
	used.user = used.cpu
	if user+system > 0 {
		used.user = time.Duration(float64(used.cpu) * float64(user) / float64(user+system))
	}
	used.system = used.cpu - used.user
	return used
}
