package main

import (
	"testing"

	"github.com/docker/docker/api/types/system"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
)

func TestWhatConfinesSandboxesIsReadFromTheDaemon(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []string
		want    hostReport
	}{
		"nothing":      {nil, hostReport{}},
		"plain":        {[]string{"name=seccomp,profile=default"}, hostReport{}},
		"AppArmor":     {[]string{"name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"}, hostReport{AppArmor: true}},
		"userns-remap": {[]string{"name=seccomp,profile=builtin", "name=userns"}, hostReport{UserNamespace: true}},
		"rootless":     {[]string{"name=seccomp,profile=builtin", "name=rootless", "name=cgroupns"}, hostReport{Rootless: true}},
		"SELinux":      {[]string{"name=selinux"}, hostReport{SELinux: true}},
	} {
		got := newHostReport(system.Info{SecurityOptions: test.options, DefaultRuntime: "runc", ServerVersion: "28.5.2", KernelVersion: "6.12.1"}, config.Sandbox{})
		test.want.Docker, test.want.Kernel, test.want.Runtime, test.want.Seccomp = "28.5.2", "6.12.1", "runc", "built-in profile"
		require.Equal(t, test.want, got, name)
	}
	got := newHostReport(system.Info{DefaultRuntime: "runc"}, config.Sandbox{
		Runtime: "runsc", Seccomp: "docker", Runtimes: []config.RuntimeRule{{Tenants: []string{"staff", ""}, Runtime: "runc"}},
	})
	require.Equal(t, hostReport{Runtime: "runsc", Rules: []string{`runc for ["staff" ""]`}, Seccomp: "the daemon's profile"}, got)
	require.Equal(t, "profile /etc/own.json", profileName("/etc/own.json"))
}

func TestAKernelThatIsNotComparedIsARemark(t *testing.T) {
	t.Parallel()
	remarks := func(kernel string) []string {
		return newHostReport(system.Info{KernelVersion: kernel}, config.Sandbox{}).Remarks
	}
	require.Equal(t, []string{"kernel 6.1.0-18-amd64 is numbered by a distribution and was not compared with the list of known holes"}, remarks("6.1.0-18-amd64"))
	require.Len(t, remarks("5.14.0-427.13.1.el9_4.x86_64"), 1)
	require.Empty(t, remarks("6.18.44"))
	require.Empty(t, remarks("5.15.24-microvm"))
}

func TestWhatConfinesSandboxesIsTwoLinesAndTheWarnings(t *testing.T) {
	t.Parallel()
	report := hostReport{Docker: "28.5.2", Kernel: "6.12.1", Runtime: "runc", Seccomp: "built-in profile"}
	require.Equal(t, []string{
		"Docker 28.5.2, kernel 6.12.1, runtime runc", "seccomp: built-in profile; no AppArmor (the host has none); no userns-remap",
	}, report.lines())
	report.AppArmor, report.SELinux, report.Rootless, report.Rules, report.Warnings = true, true, true, []string{`runsc for ["*"]`}, []string{"old"}
	report.Remarks = []string{"unknown"}
	require.Equal(t, []string{
		`Docker 28.5.2, kernel 6.12.1, runtime runc, runsc for ["*"]`,
		"seccomp: built-in profile; AppArmor: Docker's profile; SELinux: Docker's labels; " +
			"user namespace: root inside is nobody on the host; rootless: the daemon is not root",
		"warning: old",
		"remark: unknown",
	}, report.lines())
}
