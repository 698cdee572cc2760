package config

import (
	"bytes"
	_ "embed" // for seccomp.json
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// DockerSeccomp is the value of Sandbox.Seccomp that stands for the Docker daemon's own profile.
const DockerSeccomp = "docker"

//go:embed seccomp.json
var builtInSeccomp []byte

// SeccompProfile returns the profile as one line of JSON, which is what the daemon wants to be given: that of the file, or the built-in
// one. It is empty for the daemon's own.
func (s Sandbox) SeccompProfile() (string, error) {
	switch s.Seccomp {
	case "":
		return checkSeccomp(builtInSeccomp)
	case DockerSeccomp:
		return "", nil
	}
	content, err := os.ReadFile(s.Seccomp)
	if err != nil {
		return "", fmt.Errorf("sandbox.seccomp: %w: want a file, %q or nothing", err, DockerSeccomp)
	}
	profile, err := checkSeccomp(content)
	if err != nil {
		return "", fmt.Errorf("sandbox.seccomp: file %s: %w", s.Seccomp, err)
	}
	return profile, nil
}

// refusing are the actions for what a profile does not name. Docker takes a profile without one for none at all.
var refusing = []string{"SCMP_ACT_ERRNO", "SCMP_ACT_KILL", "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP"}

func checkSeccomp(content []byte) (string, error) {
	var profile struct {
		DefaultAction string            `json:"defaultAction"`
		Syscalls      []json.RawMessage `json:"syscalls"`
	}
	if err := json.Unmarshal(content, &profile); err != nil {
		return "", fmt.Errorf("not a seccomp profile: %w", err)
	}
	if !slices.Contains(refusing, profile.DefaultAction) {
		return "", fmt.Errorf("defaultAction: %q lets through what the profile does not name: want one of %s",
			profile.DefaultAction, strings.Join(refusing, ", "))
	}
	if len(profile.Syscalls) == 0 {
		return "", fmt.Errorf("syscalls: is empty: want the calls that programs may make")
	}
	var line bytes.Buffer
	if err := json.Compact(&line, content); err != nil {
		return "", fmt.Errorf("not a seccomp profile: %w", err)
	}
	return line.String(), nil
}
