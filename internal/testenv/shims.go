package testenv

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Shims lists the containers, of those with these ids, that a process of containerd on this machine serves: containerd-shim has its
// container's id among its arguments. The error is that of reading /proc.
func Shims(ids ...string) (served []string, err error) {
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	for _, name := range processes {
		line, _ := os.ReadFile(name) //nolint:gosec // below /proc; it may have ended meanwhile
		words := strings.Split(string(line), "\x00")
		if !strings.Contains(words[0], "containerd-shim") {
			continue
		}
		for _, word := range words {
			if slices.Contains(ids, word) {
				served = append(served, word)
			}
		}
	}
	return served, nil
}

// RequireShims ends a test where the shim of a container that runs is not to be seen, as where the daemon is on another machine.
func RequireShims(t testing.TB, running string) {
	t.Helper()
	if served, err := Shims(running); err != nil || len(served) != 1 {
		Missing(t, "the daemon's processes are not among those of this machine: %d shims of a container that runs, %v", len(served), err)
	}
}
