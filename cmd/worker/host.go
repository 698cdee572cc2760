package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"

	"github.com/docker/docker/api/types/system"

	"github.com/sandloop/sandloop/config"
)

// hostReport is what the Docker daemon and the settings say of what confines sandboxes beside their limits.
type hostReport struct {
	Docker  string `json:"docker"`
	Kernel  string `json:"kernel"`
	Runtime string `json:"runtime"`
	// Rules are the runtimes of some tenants, one a line.
	Rules []string `json:"runtimes,omitempty"`
	// Seccomp says whose profile is in force.
	Seccomp string `json:"seccomp"`
	// AppArmor tells that Docker gives containers its AppArmor profile, and SELinux that it labels them.
	AppArmor bool `json:"apparmor"`
	SELinux  bool `json:"selinux"`
	// UserNamespace tells that root in a container is nobody on the host (userns-remap), and Rootless that the daemon itself is not root.
	UserNamespace bool     `json:"user_namespace"`
	Rootless      bool     `json:"rootless"`
	Warnings      []string `json:"warnings,omitempty"`
	// Remarks say what was not looked at.
	Remarks []string `json:"remarks,omitempty"`
}

func newHostReport(info system.Info, c config.Sandbox) hostReport {
	h := hostReport{
		Docker: info.ServerVersion, Kernel: info.KernelVersion, Runtime: cmp.Or(c.Runtime, info.DefaultRuntime), Seccomp: profileName(c.Seccomp),
	}
	if isPackaged(h.Kernel) {
		h.Remarks = append(h.Remarks, fmt.Sprintf("kernel %s is numbered by a distribution and was not compared with the list of known holes", h.Kernel))
	}
	for _, rule := range c.Runtimes {
		h.Rules = append(h.Rules, fmt.Sprintf("%s for %q", rule.Runtime, rule.Tenants))
	}
	for _, option := range info.SecurityOptions {
		name, _, _ := strings.Cut(strings.TrimPrefix(option, "name="), ",")
		switch name {
		case "apparmor":
			h.AppArmor = true
		case "selinux":
			h.SELinux = true
		case "userns":
			h.UserNamespace = true
		case "rootless":
			h.Rootless = true
		}
	}
	return h
}

func profileName(setting string) string {
	switch setting {
	case "":
		return "built-in profile"
	case config.DockerSeccomp:
		return "the daemon's profile"
	}
	return "profile " + setting
}

// log tells it once at the start.
func (h hostReport) log(log *slog.Logger) {
	log.Info("sandboxes are confined by", "docker", h.Docker, "kernel", h.Kernel, "runtime", h.Runtime, "runtimes", h.Rules, "seccomp", h.Seccomp,
		"apparmor", h.AppArmor, "selinux", h.SELinux, "user_namespace", h.UserNamespace, "rootless", h.Rootless)
	for _, remark := range h.Remarks {
		log.Info("known holes were not looked for", "detail", remark)
	}
}

// lines are what people read.
func (h hostReport) lines() []string {
	confined := "seccomp: " + h.Seccomp
	for _, part := range []struct {
		name, without string
		has           bool
	}{
		{"AppArmor: Docker's profile", "no AppArmor (the host has none)", h.AppArmor},
		{"SELinux: Docker's labels", "", h.SELinux},
		{"user namespace: root inside is nobody on the host", "no userns-remap", h.UserNamespace || h.Rootless},
		{"rootless: the daemon is not root", "", h.Rootless},
	} {
		switch {
		case part.has:
			confined += "; " + part.name
		case part.without != "":
			confined += "; " + part.without
		}
	}
	lines := []string{fmt.Sprintf("Docker %s, kernel %s, runtime %s", h.Docker, h.Kernel, strings.Join(append([]string{h.Runtime}, h.Rules...), ", ")), confined}
	for _, warning := range h.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	for _, remark := range h.Remarks {
		lines = append(lines, "remark: "+remark)
	}
	return lines
}
