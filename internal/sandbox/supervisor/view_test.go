package supervisor

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

const goodStatus = "Name:\tsandbox-init\nUid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\nGroups:\t65534 \n" +
	"CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n" +
	"CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"

func TestStatusIsRead(t *testing.T) {
	t.Parallel()
	var view sandbox.KernelView
	require.NoError(t, readStatus(goodStatus, &view))
	require.Equal(t, sandbox.KernelView{UID: 65534, GID: 65534, Capabilities: "0000000000000000", NoNewPrivs: true, Seccomp: 2}, view)
}

func TestStatusSetsOfCapabilitiesAreJoined(t *testing.T) {
	t.Parallel()
	var view sandbox.KernelView
	require.NoError(t, readStatus("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nCapInh:\t0000000000000001\nCapPrm:\t0000000000000002\n"+
		"CapEff:\t0000000000000004\nCapBnd:\t00000000a80425fb\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n", &view))
	require.Equal(t, "00000000a80425ff", view.Capabilities)
	require.Zero(t, view.UID)
	require.False(t, view.NoNewPrivs)
}

func TestStatusThatIsNotAsExpectedIsAnError(t *testing.T) {
	t.Parallel()
	var view sandbox.KernelView
	require.ErrorContains(t, readStatus("Uid:\t65534\t0\t65534\t65534\nGid:\t1\t1\t1\t1\nNoNewPrivs:\t1\nSeccomp:\t2\n", &view), "Uid is not one")
	require.ErrorContains(t, readStatus("", &view), "missing")
}

func TestInterfacesThatAreDownOrLoopbackDoNotCount(t *testing.T) {
	t.Parallel()
	dir := fixture(t, map[string]string{
		"lo/flags": "0x9\n", "eth0/flags": "0x1003\n", "tunl0/flags": "0x80\n", "sit0/flags": "0x80\n", "wg0/flags": "0x91\n",
	})
	up, err := interfacesUp(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"eth0", "wg0"}, up)
	_, err = interfacesUp(dir + "/none")
	require.Error(t, err)
	_, err = interfacesUp(fixture(t, map[string]string{"eth0/flags": "up\n"}))
	require.ErrorContains(t, err, "eth0")
}

func goodView() (wire.Expect, sandbox.KernelView) {
	asked := wire.Expect{
		MemoryBytes: 268435456, CPUs: 0.5, PIDs: 64, TmpBytes: 67108864, WorkspaceBytes: 134217728, OpenFiles: 1024,
	}
	view := sandbox.KernelView{
		CgroupVersion: 2, MemoryBytes: 268435456, CPUs: 0.5, PIDs: 64, TmpBytes: 67108864, WorkspaceBytes: 134217728,
		RootReadOnly: true, UID: 65534, GID: 65534, Capabilities: "0000000000000000", NoNewPrivs: true, Seccomp: 2, OpenFiles: 1024,
	}
	return asked, view
}

func TestVerifyAcceptsWhatWasAsked(t *testing.T) {
	t.Parallel()
	asked, view := goodView()
	require.NoError(t, verify(asked, view, true))
	asked.CPUs = 0.503 // within 1%
	asked.MemoryBytes += 4095
	asked.TmpBytes -= 4095
	require.NoError(t, verify(asked, view, true))
	view.SwapBytes = 1 << 30
	require.NoError(t, verify(asked, view, false), "swap is not counted by this kernel")
	asked.Network, view.Interfaces = true, []string{"eth0"}
	require.NoError(t, verify(asked, view, false))
}

func TestVerifyNamesEachDifference(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*wire.Expect, *sandbox.KernelView){
		"memory_bytes":        func(_ *wire.Expect, v *sandbox.KernelView) { v.MemoryBytes = -1 },
		"swap_bytes":          func(_ *wire.Expect, v *sandbox.KernelView) { v.SwapBytes = 4096 },
		"cpus":                func(_ *wire.Expect, v *sandbox.KernelView) { v.CPUs = 0.51 },
		"pids":                func(_ *wire.Expect, v *sandbox.KernelView) { v.PIDs = 65 },
		"tmp_bytes":           func(_ *wire.Expect, v *sandbox.KernelView) { v.TmpBytes += 4096 },
		"workspace_bytes":     func(_ *wire.Expect, v *sandbox.KernelView) { v.WorkspaceBytes -= 4096 },
		"open_files":          func(_ *wire.Expect, v *sandbox.KernelView) { v.OpenFiles = 1 << 20 },
		"core_bytes":          func(_ *wire.Expect, v *sandbox.KernelView) { v.CoreBytes = -1 },
		"uid":                 func(_ *wire.Expect, v *sandbox.KernelView) { v.UID = 0 },
		"gid":                 func(_ *wire.Expect, v *sandbox.KernelView) { v.GID = 0 },
		"seccomp":             func(_ *wire.Expect, v *sandbox.KernelView) { v.Seccomp = 0 },
		"root_read_only":      func(_ *wire.Expect, v *sandbox.KernelView) { v.RootReadOnly = false },
		"no_new_privs":        func(_ *wire.Expect, v *sandbox.KernelView) { v.NoNewPrivs = false },
		"capabilities":        func(_ *wire.Expect, v *sandbox.KernelView) { v.Capabilities = "0000000000000400" },
		"interfaces":          func(_ *wire.Expect, v *sandbox.KernelView) { v.Interfaces = []string{"eth0"} },
		"cpus: asked for NaN": func(e *wire.Expect, _ *sandbox.KernelView) { e.CPUs = math.NaN() },
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			asked, view := goodView()
			change(&asked, &view)
			require.ErrorContains(t, verify(asked, view, true), field)
		})
	}
}
