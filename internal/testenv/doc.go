// Package testenv gives tests what they need from the machine: a Docker daemon, a
// Redis server of their own, the sandbox-init binary and a runtime image.
//
// Its one invariant: a test never passes because something was missing. On a laptop
// what is missing skips the test with the reason; where the variable CI is set it fails it.
//
// Only tests import it. It imports the standard library and talks to Docker through
// its command line, so that any package may use it.
package testenv

import (
	"os"
	"testing"
)

// Missing ends the test: skipped with the reason on a laptop, failed in CI.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
