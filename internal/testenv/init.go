package testenv

import (
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var (
	builtInit  = sync.OnceValues(func() (string, error) { return buildStatic("sandbox-init") })
	builtProxy = sync.OnceValues(func() (string, error) { return buildStatic("egress-proxy") })
)

// buildStatic builds a program of ours that has to run in any image. The binary goes to the user's cache and not
// to a temporary directory, so that containers of any test can mount it and nothing piles up.
func buildStatic(program string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "sandloop", "testenv")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // uid 65534 reads it through a mount
		return "", err
	}
	built := filepath.Join(dir, fmt.Sprintf("%s.%d", program, os.Getpid()))
	defer func() { _ = os.Remove(built) }()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", built, "./cmd/"+program) //nolint:gosec,noctx // arguments are ours; ends by itself
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	// A rename leaves containers that run the old binary alone; another checkout has another path.
	path := filepath.Join(dir, fmt.Sprintf("%s-%x", program, crc32.ChecksumIEEE([]byte(root))))
	return path, os.Rename(built, path)
}

// ProxyPath returns the absolute path of an egress-proxy binary: SANDLOOP_EGRESS_PROXY if that is
// set, else one built from this checkout.
func ProxyPath(t testing.TB) string {
	t.Helper()
	return program(t, "SANDLOOP_EGRESS_PROXY", builtProxy)
}

// InitPath returns the absolute path of a sandbox-init binary: SANDLOOP_INIT if that is
// set, else one built from this checkout.
func InitPath(t testing.TB) string {
	t.Helper()
	return program(t, "SANDLOOP_INIT", builtInit)
}

// program is the file that the variable names, or else what build builds.
func program(t testing.TB, variable string, build func() (string, error)) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
		if _, err := os.Stat(absolute); err != nil { //nolint:gosec // whoever runs the tests names the file
			Missing(t, "%s: %v", variable, err)
		}
		return absolute
	}
	path, err := build()
	if err != nil {
		t.Fatalf("%v", err) // code that does not build is no reason to skip
	}
	return path
}

// moduleRoot is the directory of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output() //nolint:noctx // the go command bounds itself
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
