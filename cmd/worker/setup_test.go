package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	// go-redis looks once a second whether a pool without connections is closed by now.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// patience bounds every wait for something else on a busy machine.
const patience = time.Minute

// output can be read while the command writes it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// command is a command line that runs in this process.
type command struct {
	stdout, stderr output
	stop           context.CancelFunc
	ended          chan error
}

// start runs a command line with a configuration file.
func start(t *testing.T, configuration string, args ...string) *command {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sandloop.yaml")
	require.NoError(t, os.WriteFile(file, []byte(configuration), 0o600))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	c := &command{stop: stop, ended: make(chan error, 1)}
	go func() {
		c.ended <- run(ctx, append(args, "--config", file), strings.NewReader(""), &c.stdout, &c.stderr)
	}()
	t.Cleanup(stop)
	return c
}

// end waits for the command and returns what main would make of its error.
func (c *command) end(t *testing.T) (code int, said string) {
	t.Helper()
	select {
	case err := <-c.ended:
		var text bytes.Buffer
		report(&text, err)
		return exitCode(err), text.String()
	case <-time.After(testenv.Scale(t, patience)):
		require.Fail(t, "the command did not end", c.stderr.String())
		return 0, ""
	}
}

// untilStarted waits until the worker takes jobs.
func (c *command) untilStarted(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		select {
		case err := <-c.ended:
			c.ended <- err
			require.NoError(t, err)
		default:
		}
		return strings.Contains(c.stderr.String(), "worker started")
	}, testenv.Scale(t, patience), 20*time.Millisecond, "the worker does not start: %s", &c.stderr)
}

// runNow runs a command line to its end.
func runNow(t *testing.T, configuration string, args ...string) (code int, stdout, said string) {
	t.Helper()
	c := start(t, configuration, args...)
	code, said = c.end(t)
	return code, c.stdout.String(), said
}

// onDocker is a configuration with which python and bash run in the image that the tests have.
func onDocker(t *testing.T) string {
	t.Helper()
	image := testenv.Image(t)
	languages := filepath.Join(t.TempDir(), "languages.yaml")
	require.NoError(t, os.WriteFile(languages, fmt.Appendf(nil, "python: {image: %q}\nbash: {image: %q}\n", image, image), 0o600))
	return fmt.Sprintf("languages_file: %q\nsandbox: {init_path: %q, pool_size: 1}\nlog: {level: debug, format: json}\n", languages, testenv.InitPath(t))
}

// requireNoContainers makes sure that an installation left nothing on the daemon.
func requireNoContainers(t *testing.T, installation string) {
	t.Helper()
	docker, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	defer func() { require.NoError(t, docker.Close()) }()
	require.Eventually(t, func() bool {
		left, err := docker.ContainerList(t.Context(), container.ListOptions{
			All: true, Filters: filters.NewArgs(filters.Arg("label", labels.Installation+"="+installation)),
		})
		left = slices.DeleteFunc(left, func(c container.Summary) bool {
			_, err := docker.ContainerInspect(t.Context(), c.ID)
			return errdefs.IsNotFound(err) // Docker 20.10 can go on listing one that is gone
		})
		return err == nil && len(left) == 0
	}, patience, 50*time.Millisecond)
}

// freeAddr is a loopback address on which nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}
