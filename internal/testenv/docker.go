package testenv

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// defaultImage has python3, node, bash, gcc and g++; `scripts/setup.sh image core` makes it.
const defaultImage = "sandloop/core:latest"

var daemon = sync.OnceValues(func() (string, error) {
	return docker("version", "--format", "{{.Server.Version}}")
})

// Docker makes sure that a Docker daemon answers, at DOCKER_HOST or the usual
// socket, and returns its version. It asks once a process.
func Docker(t testing.TB) string {
	t.Helper()
	version, err := daemon()
	if err != nil {
		Missing(t, "no Docker daemon answers (%v: %s): run scripts/setup.sh docker", err, version)
	}
	return version
}

// Image returns the name of a runtime image that the daemon has: SANDLOOP_TEST_IMAGE
// if that is set, else sandloop/core:latest.
func Image(t testing.TB) string {
	t.Helper()
	Docker(t)
	image := os.Getenv("SANDLOOP_TEST_IMAGE")
	if image == "" {
		image = defaultImage
	}
	if out, err := docker("image", "inspect", "--format", "{{.Id}}", image); err != nil {
		Missing(t, "image %s is not there (%v: %s): run scripts/setup.sh image core", image, err, out)
	}
	return image
}

// FullImage returns the name of the image with all languages and Python's scientific libraries, if the daemon has it.
func FullImage(t testing.TB) string {
	t.Helper()
	Docker(t)
	const image = "sandloop/full:latest"
	if out, err := docker("image", "inspect", "--format", "{{.Id}}", image); err != nil {
		Missing(t, "image %s is not there (%v: %s): run scripts/setup.sh image full", image, err, out)
	}
	return image
}

// docker runs the command line client with a bound on its time and returns its trimmed output.
func docker(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput() //nolint:gosec // arguments are ours
	return strings.TrimSpace(string(out)), err
}
