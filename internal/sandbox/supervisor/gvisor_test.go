package supervisor

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestGVisorIsKnownByItsVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016\n":           true,
		"Linux version 6.1.0-42-amd64 (debian-kernel@lists.debian.org) (gcc-12) #1\n": false,
		"Linux version 6.1.0-42-amd64 (me@build-gvisor) #1 SMP\n":                     false,
		"Linux version 6.1.0-gvisor2 #1\n":                                            false,
		"":                                                                            false,
	} {
		require.Equal(t, want, isGVisor(version), version)
	}
}

// What gVisor's /proc/self/status has.
const gVisorStatus = "Name:\tsandbox-init\nUid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\nThreads:\t16\n" +
	"CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nSeccomp:\t0\n"

func TestWhatGVisorLeavesOutIsAskedForOnGVisorAlone(t *testing.T) {
	t.Parallel()
	view := sandbox.KernelView{GVisor: true}
	require.NoError(t, readStatus(gVisorStatus, &view))
	require.Equal(t, "0000000000000000", view.Capabilities)
	require.Equal(t, 65534, view.UID)
	require.Error(t, readStatus(gVisorStatus, &sandbox.KernelView{}), "Linux itself always tells")
}

func TestLimitsThatGVisorDoesNotTellAreNotVerifiedThereAlone(t *testing.T) {
	t.Parallel()
	asked, view := goodView()
	view.PIDs, view.Seccomp = -1, 0
	err := verify(asked, view, true)
	require.ErrorContains(t, err, "pids: asked for 64, the kernel says -1")
	require.ErrorContains(t, err, "seccomp: asked for 2, the kernel says 0")
	view.GVisor = true
	require.NoError(t, verify(asked, view, true))
	view.MemoryBytes++
	require.ErrorContains(t, verify(asked, view, true), "memory_bytes")
}

func TestInterfacesOfGVisor(t *testing.T) {
	t.Parallel()
	const heading = "Inter-|   Receive   |  Transmit\n face |bytes    packets|bytes\n"
	dir := fixture(t, map[string]string{
		"alone": heading + "    lo:     172       3\n", "none": heading, "more": heading + "    lo:  172  3\n  eth0:    0    0\n",
	})
	for name, want := range map[string][]string{"alone": nil, "none": nil, "more": {"eth0"}} {
		found, err := interfacesOfGVisor(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, found, name)
	}
	_, err := interfacesOfGVisor(filepath.Join(dir, "absent"))
	require.ErrorContains(t, err, "list network interfaces")
}

func TestCountersThatGVisorDoesNotHaveAreZero(t *testing.T) {
	t.Parallel()
	files := version1("cpu", "cpuacct")
	delete(files, "memory/memory.oom_control")
	delete(files, "memory/memory.max_usage_in_bytes")
	delete(files, "pids/pids.events")
	group, err := findCgroup(fixture(t, files))
	require.NoError(t, err)
	_, err = group.counters()
	require.Error(t, err, "Linux has them all")
	group.gVisor = true
	counted, err := group.counters()
	require.NoError(t, err)
	require.Zero(t, counted.oomKills)
	require.Zero(t, counted.pidsDenied)
	require.Zero(t, counted.peak)
	files["memory/memory.oom_control"] = "under_oom 0\n"
	group, err = findCgroup(fixture(t, files))
	require.NoError(t, err)
	group.gVisor = true
	_, err = group.counters()
	require.ErrorContains(t, err, "has no oom_kill", "a file that is there must tell")
}
