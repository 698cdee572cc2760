package testenv

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Runtime is the container runtime that tests use, a name that the Docker daemon knows: SANDLOOP_TEST_RUNTIME, or "" for the daemon's default.
func Runtime() string { return os.Getenv("SANDLOOP_TEST_RUNTIME") }

// OneLimit is why some tests do not hold on gVisor.
const OneLimit = "memory and processes are limited for the sandbox as a whole: whoever exceeds them loses it, with its files and counters"

// OOMVictim is whom the kernel kills on the runtime of the tests for the memory limit, as results say it.
func OOMVictim() string {
	if Runtime() == "runsc" {
		return "the whole sandbox"
	}
	return "a process"
}

// Except skips a test that does not hold under a runtime other than the default, with the reason, by its whole name or that of the test that it is a
// part of. The lists are in docs/gvisor.md too.
func Except(t testing.TB, runtime string, reasons map[string]string) {
	t.Helper()
	if Runtime() != runtime {
		return
	}
	whole, _, _ := strings.Cut(t.Name(), "/")
	for _, name := range []string{t.Name(), whole} {
		if reason, excepted := reasons[name]; excepted {
			t.Skipf("does not hold on %s: %s", runtime, reason)
		}
	}
}

// HasRuntime tells whether the daemon has a runtime of that name; `scripts/setup.sh gvisor` gives it runsc.
func HasRuntime(t testing.TB, name string) bool {
	t.Helper()
	Docker(t)
	out, err := docker("info", "--format", "{{range $name, $_ := .Runtimes}}{{$name}} {{end}}")
	if err != nil {
		t.Fatalf("docker info: %v: %s", err, out)
	}
	return slices.Contains(strings.Fields(out), name)
}
