package main

import (
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// control is one row of the table: what was asked for and what is.
type control struct {
	Name  string `json:"control"`
	Asked string `json:"asked"`
	Found string `json:"found"`
	OK    bool   `json:"ok"`
}

// same is a control whose two sides must read alike.
func same(name string, asked, found any) control {
	c := control{Name: name, Asked: fmt.Sprint(asked), Found: fmt.Sprint(found)}
	c.OK = c.Asked == c.Found
	return c
}

// kernelControls compares limits with what sandbox-init read back from the kernel.
func kernelControls(asked sandbox.Limits, found sandbox.KernelView) []control {
	return []control{
		same("memory", config.Size(asked.Memory), config.Size(found.MemoryBytes)),
		same("swap", config.Size(0), config.Size(found.SwapBytes)),
		same("processors", asked.CPUs, found.CPUs),
		same("processes", asked.PIDs, found.PIDs),
		same("size of /tmp", config.Size(asked.Tmp), config.Size(found.TmpBytes)),
		same("size of /workspace", config.Size(asked.Workspace), config.Size(found.WorkspaceBytes)),
		same("open files", asked.OpenFiles, found.OpenFiles),
		same("core dumps", config.Size(0), config.Size(found.CoreBytes)),
		same("root file system", "read-only", readOnly(found.RootReadOnly)),
		same("user and group", "65534:65534", fmt.Sprintf("%d:%d", found.UID, found.GID)),
		same("capabilities", "none", capabilities(found.Capabilities)),
		same("new privileges", "never", privileges(found.NoNewPrivs)),
		same("seccomp", "filter", seccomp(found.Seccomp)),
		same("network interfaces", "none", listed(found.Interfaces)),
	}
}

func readOnly(yes bool) string {
	if yes {
		return "read-only"
	}
	return "writable"
}

func privileges(never bool) string {
	if never {
		return "never"
	}
	return "possible"
}

func capabilities(hex string) string {
	switch {
	case hex == "":
		return "unknown"
	case strings.Trim(hex, "0") == "":
		return "none"
	}
	return hex
}

func seccomp(mode int) string {
	switch mode {
	case 0:
		return "off"
	case 2:
		return "filter"
	}
	return fmt.Sprintf("mode %d", mode)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}
