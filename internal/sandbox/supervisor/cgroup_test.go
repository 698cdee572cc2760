package supervisor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fixture writes files below a new directory.
func fixture(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

func version2() map[string]string {
	return map[string]string{
		"cgroup.controllers": "cpu memory pids\n",
		"memory.max":         "268435456\n", "memory.swap.max": "0\n", "memory.current": "4096000\n", "memory.peak": "8192000\n",
		"memory.events": "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n",
		"cpu.max":       "50000 100000\n",
		"cpu.stat":      "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 7\n",
		"pids.max":      "80\n", "pids.events": "max 5\n",
	}
}

func version1(cpu, cpuacct string) map[string]string {
	return map[string]string{
		"memory/memory.limit_in_bytes": "268435456\n", "memory/memory.memsw.limit_in_bytes": "268435456\n",
		"memory/memory.usage_in_bytes": "4096000\n", "memory/memory.max_usage_in_bytes": "8192000\n",
		"memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
		cpu + "/cpu.cfs_quota_us":   "50000\n", cpu + "/cpu.cfs_period_us": "100000\n",
		cpuacct + "/cpuacct.usage": "1500000000\n", cpuacct + "/cpuacct.usage_user": "900000000\n", cpuacct + "/cpuacct.usage_sys": "300000000\n",
		"pids/pids.max": "80\n", "pids/pids.events": "max 5\n",
	}
}

func TestCgroupOfEachKind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files   map[string]string
		version int
		user    time.Duration
		system  time.Duration
	}{
		"version 2":                      {version2(), 2, time.Second, 500 * time.Millisecond},
		"version 1, separate":            {version1("cpu", "cpuacct"), 1, 900 * time.Millisecond, 300 * time.Millisecond},
		"version 1, joint":               {version1("cpu,cpuacct", "cpu,cpuacct"), 1, 900 * time.Millisecond, 300 * time.Millisecond},
		"version 1, joint the other way": {version1("cpuacct,cpu", "cpuacct,cpu"), 1, 900 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group, err := findCgroup(fixture(t, test.files))
			require.NoError(t, err)
			require.Equal(t, test.version, group.version)
			limits, err := group.limits()
			require.NoError(t, err)
			require.Equal(t, cgroupLimits{memory: 268435456, swap: 0, swapAccounted: true, cpus: 0.5, pids: 80}, limits)
			usage, err := group.cpuUsage()
			require.NoError(t, err)
			require.Equal(t, 1500*time.Millisecond, usage)
			user, system, err := group.cpuSplit()
			require.NoError(t, err)
			require.Equal(t, test.user, user)
			require.Equal(t, test.system, system)
			for _, number := range []struct {
				want int64
				read func() (int64, error)
			}{{2, group.oomKills}, {5, group.pidsDenied}, {4096000, group.memoryUsage}, {8192000, group.memoryPeak}} {
				got, err := number.read()
				require.NoError(t, err)
				require.Equal(t, number.want, got)
			}
		})
	}
}

func TestCgroupWithoutLimits(t *testing.T) {
	t.Parallel()
	files := version2()
	files["memory.max"], files["memory.swap.max"], files["cpu.max"], files["pids.max"] = "max\n", "max\n", "max 100000\n", "max\n"
	none := cgroupLimits{memory: -1, swap: -1, swapAccounted: true, cpus: -1, pids: -1}
	group, err := findCgroup(fixture(t, files))
	require.NoError(t, err)
	limits, err := group.limits()
	require.NoError(t, err)
	require.Equal(t, none, limits)

	files = version1("cpu", "cpuacct")
	files["memory/memory.limit_in_bytes"], files["memory/memory.memsw.limit_in_bytes"] = "9223372036854771712\n", "9223372036854771712\n"
	files["cpu/cpu.cfs_quota_us"], files["pids/pids.max"] = "-1\n", "max\n"
	group, err = findCgroup(fixture(t, files))
	require.NoError(t, err)
	limits, err = group.limits()
	require.NoError(t, err)
	require.Equal(t, none, limits)
}

func TestSwapThatTheKernelDoesNotCount(t *testing.T) {
	t.Parallel()
	files := version2()
	delete(files, "memory.swap.max")
	delete(files, "memory.peak") // Linux before 5.19
	group, err := findCgroup(fixture(t, files))
	require.NoError(t, err)
	limits, err := group.limits()
	require.NoError(t, err)
	require.False(t, limits.swapAccounted)
	peak, err := group.memoryPeak()
	require.NoError(t, err)
	require.Zero(t, peak)
}

func TestUnreadableCgroupIsAnError(t *testing.T) {
	t.Parallel()
	_, err := findCgroup(t.TempDir())
	require.ErrorContains(t, err, "cgroup v1 controller")
	for _, missing := range []string{"memory.max", "cpu.max", "pids.max"} {
		files := version2()
		delete(files, missing)
		group, err := findCgroup(fixture(t, files))
		require.NoError(t, err)
		_, err = group.limits()
		require.ErrorContains(t, err, missing)
	}
	for _, missing := range []string{"cpu.stat", "memory.events", "pids.events"} {
		files := version2()
		delete(files, missing)
		group, err := findCgroup(fixture(t, files))
		require.NoError(t, err)
		_, err = group.counters()
		require.ErrorContains(t, err, missing)
	}
	for name, broken := range map[string]string{"memory.max": "lots", "cpu.max": "50000", "pids.max": ""} {
		files := version2()
		files[name] = broken
		group, err := findCgroup(fixture(t, files))
		require.NoError(t, err)
		_, err = group.limits()
		require.ErrorContains(t, err, name)
	}
}

func TestCountersOfAStepAreDifferences(t *testing.T) {
	t.Parallel()
	before := counters{cpu: 10 * time.Second, user: 6 * time.Second, system: 2 * time.Second, peak: 100, oomKills: 1, pidsDenied: 7}
	after := counters{cpu: 13 * time.Second, user: 8 * time.Second, system: 3 * time.Second, peak: 100, oomKills: 3, pidsDenied: 7}
	require.Equal(t, counters{
		cpu: 3 * time.Second, user: 2 * time.Second, system: time.Second, oomKills: 2,
	}, after.since(before)) // user and system are 2 to 1; the peak was not raised
	after.peak = 101
	require.Equal(t, int64(101), after.since(before).peak)
	// No tick fell into a short step: all is user time.
	short := counters{cpu: 10*time.Second + time.Millisecond, user: 6 * time.Second, system: 2 * time.Second}
	require.Equal(t, counters{cpu: time.Millisecond, user: time.Millisecond}, short.since(counters{cpu: 10 * time.Second, user: 6 * time.Second, system: 2 * time.Second}))
}
