package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cgroup knows where the container's control files are. With version 2 all are in one
// directory; with version 1 each controller has its own, or shares one by a link.
type cgroup struct {
	version                    int
	memory, cpu, cpuacct, pids string
	// gVisor tells that they are gVisor's, which has some of version 1.
	gVisor bool
}

// findCgroup tells the version by a file that only version 2 has.
func findCgroup(root string) (*cgroup, error) {
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		return &cgroup{version: 2, memory: root, cpu: root, cpuacct: root, pids: root}, nil
	}
	group := &cgroup{version: 1}
	for name, dir := range map[string]*string{
		"memory": &group.memory, "cpu": &group.cpu, "cpuacct": &group.cpuacct, "pids": &group.pids,
	} {
		found := ""
		for _, candidate := range []string{name, "cpu,cpuacct", "cpuacct,cpu"} {
			joint := strings.Contains(candidate, ",")
			if joint && !strings.HasPrefix(name, "cpu") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, candidate)); err == nil {
				found = filepath.Join(root, candidate)
				break
			}
		}
		if found == "" {
			return nil, fmt.Errorf("cgroup v1 controller %s is not below %s", name, root)
		}
		*dir = found
	}
	return group, nil
}

// limits are what a cgroup enforces; -1 is no limit.
type cgroupLimits struct {
	memory int64
	// swap is allowed on top of memory; swapAccounted tells whether the kernel enforces that.
	swap          int64
	swapAccounted bool
	cpus          float64
	pids          int64
}

func (c *cgroup) limits() (l cgroupLimits, err error) {
	if l.memory, err = readInt(filepath.Join(c.memory, c.either("memory.limit_in_bytes", "memory.max"))); err != nil {
		return l, err
	}
	if l.swap, l.swapAccounted, err = c.swap(l.memory); err != nil {
		return l, err
	}
	if l.cpus, err = c.cpus(); err != nil {
		return l, err
	}
	l.pids, err = readInt(filepath.Join(c.pids, "pids.max"))
	return l, err
}

func (c *cgroup) either(v1, v2 string) string {
	if c.version == 1 {
		return v1
	}
	return v2
}

// swap reads the limit of version 2, and that of version 1, which counts memory as well.
func (c *cgroup) swap(memory int64) (bytes int64, accounted bool, err error) {
	limit, err := readInt(filepath.Join(c.memory, c.either("memory.memsw.limit_in_bytes", "memory.swap.max")))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case err != nil || limit < 0:
		return limit, true, err
	case c.version == 1:
		return limit - memory, true, nil
	}
	return limit, true, nil
}

// cpus is quota divided by period, or -1.
func (c *cgroup) cpus() (float64, error) {
	if c.version == 1 {
		quota, err := readInt(filepath.Join(c.cpu, "cpu.cfs_quota_us"))
		if err != nil || quota < 0 {
			return -1, err
		}
		period, err := readInt(filepath.Join(c.cpu, "cpu.cfs_period_us"))
		if err != nil || period <= 0 {
			return -1, err
		}
		return float64(quota) / float64(period), nil
	}
	path := filepath.Join(c.cpu, "cpu.max")
	content, err := readSmall(path)
	if err != nil {
		return -1, err
	}
	quotaText, periodText, _ := strings.Cut(strings.TrimSpace(content), " ")
	if quotaText == "max" {
		return -1, nil
	}
	quota, err1 := strconv.ParseFloat(quotaText, 64)
	period, err2 := strconv.ParseFloat(periodText, 64)
	if err1 != nil || err2 != nil || period <= 0 {
		return -1, fmt.Errorf("%s holds %q: want quota and period", path, content)
	}
	return quota / period, nil
}

// cpuUsage is the CPU time of all that ever ran in the container.
func (c *cgroup) cpuUsage() (time.Duration, error) {
	if c.version == 1 {
		nanos, err := readInt(filepath.Join(c.cpuacct, "cpuacct.usage"))
		return time.Duration(nanos), err
	}
	micros, err := readKey(filepath.Join(c.cpuacct, "cpu.stat"), "usage_usec")
	return time.Duration(micros) * time.Microsecond, err
}

// cpuSplit is user and system time. Version 1 samples both by the clock tick, so
// only their ratio is used.
func (c *cgroup) cpuSplit() (user, system time.Duration, err error) {
	if c.version == 1 {
		userNanos, err1 := readInt(filepath.Join(c.cpuacct, "cpuacct.usage_user"))
		systemNanos, err2 := readInt(filepath.Join(c.cpuacct, "cpuacct.usage_sys"))
		return time.Duration(userNanos), time.Duration(systemNanos), errors.Join(err1, err2)
	}
	content, err := readSmall(filepath.Join(c.cpuacct, "cpu.stat"))
	if err != nil {
		return 0, 0, err
	}
	userMicros, _ := lookupKey(content, "user_usec")
	systemMicros, _ := lookupKey(content, "system_usec")
	return time.Duration(userMicros) * time.Microsecond, time.Duration(systemMicros) * time.Microsecond, nil
}

// memoryUsage is what the container uses now.
func (c *cgroup) memoryUsage() (int64, error) {
	return readInt(c.memoryUsageFile())
}

func (c *cgroup) memoryUsageFile() string {
	return filepath.Join(c.memory, c.either("memory.usage_in_bytes", "memory.current"))
}

// memoryPeak is the highest use since the container started, 0 where the kernel does not
// tell (version 2 before Linux 5.19).
func (c *cgroup) memoryPeak() (int64, error) {
	peak, err := readInt(filepath.Join(c.memory, c.either("memory.max_usage_in_bytes", "memory.peak")))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return peak, err
}

// oomKills counts the processes that the kernel killed for the memory limit.
func (c *cgroup) oomKills() (int64, error) {
	return c.readCounter(filepath.Join(c.memory, c.either("memory.oom_control", "memory.events")), "oom_kill")
}

// pidsDenied counts the forks that the kernel refused for the limit of processes.
func (c *cgroup) pidsDenied() (int64, error) {
	return c.readCounter(filepath.Join(c.pids, "pids.events"), "max")
}

// readCounter reads a counter of what the kernel did. gVisor has none, as it kills and refuses nothing by itself: its sandbox meets the
// limits from outside and as a whole.
func (c *cgroup) readCounter(path, key string) (int64, error) {
	count, err := readKey(path, key)
	if c.gVisor && errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return count, err
}
