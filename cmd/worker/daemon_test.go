package main

import (
	"testing"

	"github.com/docker/docker/api/types/system"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
)

func TestWhatADaemonMustBeAbleTo(t *testing.T) {
	t.Parallel()
	able := func() system.Info {
		return system.Info{OSType: "linux", MemoryLimit: true, CPUCfsQuota: true, PidsLimit: true, Runtimes: map[string]system.RuntimeWithStatus{"runc": {}}}
	}
	require.NoError(t, daemonProblems(able(), config.Sandbox{}))
	require.NoError(t, daemonProblems(able(), config.Sandbox{Runtime: "runc"}))
	require.ErrorContains(t, daemonProblems(able(), config.Sandbox{Runtime: "runsc"}), `sandbox.runtime: the Docker daemon has no runtime "runsc": want one of runc`)
	rules := config.Sandbox{Runtimes: []config.RuntimeRule{{Runtime: "runc"}, {Runtime: "kata"}}}
	require.ErrorContains(t, daemonProblems(able(), rules), `sandbox.runtimes[1].runtime: the Docker daemon has no runtime "kata": want one of runc`)

	unable := able()
	unable.OSType, unable.MemoryLimit, unable.PidsLimit = "windows", false, false
	err := daemonProblems(unable, config.Sandbox{})
	require.ErrorContains(t, err, "windows containers")
	require.ErrorContains(t, err, "cannot limit memory")
	require.ErrorContains(t, err, "cannot limit processes")
	require.NotContains(t, err.Error(), "processors")
}

func TestADaemonsIDIsAPlainWord(t *testing.T) {
	t.Parallel()
	require.Equal(t, "AB12CD34", (&daemon{info: system.Info{ID: "AB12:CD34"}}).hostID())
	require.Equal(t, "8f2c-11", (&daemon{info: system.Info{ID: "8f2c-11"}}).hostID())
}

func TestRuncIsLookedAtOnlyWhereItRuns(t *testing.T) {
	t.Parallel()
	d := &daemon{info: system.Info{DefaultRuntime: "runc"}}
	rule := func(runtime string) []config.RuntimeRule { return []config.RuntimeRule{{Runtime: runtime}} }
	require.True(t, d.runsRunc(config.Sandbox{}))
	require.False(t, d.runsRunc(config.Sandbox{Runtime: "runsc", Runtimes: rule("kata")}))
	require.True(t, d.runsRunc(config.Sandbox{Runtime: "runsc", Runtimes: rule("io.containerd.runc.v2")}))
	d.info.DefaultRuntime = "runsc"
	require.False(t, d.runsRunc(config.Sandbox{}))
	require.Equal(t, []string{"a", "b"}, usedRuntimes(config.Sandbox{Runtime: "a", Runtimes: append(rule("b"), rule("a")...)}))
}

func TestDockersOwnProfileIsWarnedOfWhereItIsUsed(t *testing.T) {
	t.Parallel()
	require.Len(t, profileWarnings("20.10.24+dfsg1", "docker"), 1)
	require.Len(t, profileWarnings("29.4.2", "docker"), 1)
	require.Empty(t, profileWarnings("29.4.3", "docker"))
	require.Empty(t, profileWarnings("30.0.0-rc.1", "docker"))
	require.Empty(t, profileWarnings("20.10.24", ""), "ours has no such sockets")
	require.Empty(t, profileWarnings("20.10.24", "/etc/own.json"))
	require.Empty(t, profileWarnings("unknown", "docker"))
}
