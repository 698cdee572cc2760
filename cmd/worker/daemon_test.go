package main

import (
	"testing"

	"github.com/docker/docker/api/types/system"
	"github.com/stretchr/testify/require"
)

func TestWhatADaemonMustBeAbleTo(t *testing.T) {
	t.Parallel()
	able := func() system.Info {
		return system.Info{OSType: "linux", MemoryLimit: true, CPUCfsQuota: true, PidsLimit: true, Runtimes: map[string]system.RuntimeWithStatus{"runc": {}}}
	}
	require.NoError(t, daemonProblems(able(), ""))
	require.NoError(t, daemonProblems(able(), "runc"))
	require.ErrorContains(t, daemonProblems(able(), "runsc"), `no runtime "runsc"`)

	unable := able()
	unable.OSType, unable.MemoryLimit, unable.PidsLimit = "windows", false, false
	err := daemonProblems(unable, "")
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
