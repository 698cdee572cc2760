package docker

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

var rewriteGolden = flag.Bool("golden", false, "rewrite testdata/hostconfig.golden.json")

func exampleSpec() ContainerSpec {
	return ContainerSpec{
		ImageID: "sha256:0123", ImageVolumes: []string{"/data", "/tmp", "/workspace"}, Limits: sandbox.DefaultLimits(),
		CgroupV2: true, Seccomp: `{"defaultAction":"SCMP_ACT_ERRNO"}`, InitVolume: "sandloop-init-0123456789abcdef0123456789abcdef",
		Worker: "w1", Installation: "i1", Job: "01ABC", Attempt: 2, Deadline: time.Hour, Expires: time.Unix(1_800_000_000, 0),
	}
}

// The golden file is the whole of what Docker is told: a change in it is a change of the isolation.
func TestHostConfigIsTheGoldenFile(t *testing.T) {
	t.Parallel()
	config, host := HostConfig(exampleSpec())
	got, err := json.MarshalIndent(map[string]any{"Config": config, "HostConfig": host}, "", "  ")
	require.NoError(t, err)
	const golden = "testdata/hostconfig.golden.json"
	if *rewriteGolden {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

func TestHostConfigDefaultLimits(t *testing.T) {
	t.Parallel()
	config, host := HostConfig(exampleSpec())
	require.EqualValues(t, 268435456, host.Memory)
	require.EqualValues(t, 268435456, host.MemorySwap, "no swap on top of memory")
	require.EqualValues(t, 50000, host.CPUQuota)
	require.EqualValues(t, 100000, host.CPUPeriod)
	require.EqualValues(t, 80, *host.PidsLimit, "64 for the job and 16 for sandbox-init")
	require.Equal(t, "rw,noexec,nosuid,nodev,size=67108864,mode=1777", host.Tmpfs["/tmp"])
	require.Equal(t, "rw,exec,nosuid,nodev,size=134217728,mode=1777", host.Tmpfs["/workspace"])
	require.True(t, host.ReadonlyRootfs)
	require.Equal(t, []string{"ALL"}, []string(host.CapDrop))
	require.Equal(t, "65534:65534", config.User)
	require.True(t, config.NetworkDisabled)
	require.False(t, host.Privileged)
	require.Empty(t, host.Binds)
	require.Empty(t, config.Env)
}

func TestWithoutAProfileItIsTheDaemons(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Seccomp = ""
	_, host := HostConfig(spec)
	require.Equal(t, []string{"no-new-privileges:true"}, host.SecurityOpt)
}

func TestHostConfigNetwork(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Network = true
	config, host := HostConfig(spec)
	require.False(t, config.NetworkDisabled)
	require.EqualValues(t, "bridge", host.NetworkMode)
}

func TestHostConfigOfAWarmContainerNamesNoJob(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Job, spec.CgroupV2 = "", false
	config, host := HostConfig(spec)
	require.Equal(t, map[string]string{
		"dev.sandloop.installation": "i1", "dev.sandloop.owner": "w1", "dev.sandloop.role": "sandbox", "dev.sandloop.expires": "1800000000",
	}, config.Labels)
	require.Empty(t, host.CgroupnsMode)
}

// 80 is the job's 64 and 16 for sandbox-init; gVisor takes two of the host's for each and some of its own.
func TestHostConfigOnGVisor(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Runtime, spec.GVisor = "runsc", true
	config, host := HostConfig(spec)
	require.Equal(t, "runsc", host.Runtime)
	require.EqualValues(t, 192, *host.PidsLimit)
	require.False(t, config.NetworkDisabled, "or there is no loopback interface")
	require.EqualValues(t, "none", host.NetworkMode)
}

func TestWhichRuntimesAreGVisors(t *testing.T) {
	t.Parallel()
	runtime := func(path, shim string) system.RuntimeWithStatus {
		return system.RuntimeWithStatus{Runtime: system.Runtime{Path: path, Type: shim}}
	}
	require.True(t, IsGVisor("runsc", runtime("", "")))
	require.True(t, IsGVisor("strict", runtime("/opt/bin/runsc", "")))
	require.True(t, IsGVisor("strict", runtime("", "io.containerd.runsc.v1")))
	require.False(t, IsGVisor("runc", runtime("runc", "")))
	require.False(t, IsGVisor("kata", runtime("/runsc/kata-runtime", "")))
}

func TestOneThirdOfAProcessor(t *testing.T) {
	t.Parallel()
	limits := sandbox.DefaultLimits()
	limits.CPUs = 1.0 / 3
	s := shapeOf("x", limits, false)
	require.EqualValues(t, 33333, s.cpuQuota)
	require.InDelta(t, 0.33333, s.cpus(), 1e-9)
}
