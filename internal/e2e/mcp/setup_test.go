package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// bound is how long something may take that needs one container on a busy machine.
const bound = time.Minute

// fullImage has Python with matplotlib.
const fullImage = "sandloop/full:latest"

// bin is where TestMain puts the programs.
var bin string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sandloop-mcp-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = dir
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// build builds as `make build` does, which so has done most of it before.
func build(dir string) error {
	for _, programs := range [][]string{{"./cmd/worker", "./cmd/enqueue", "./cmd/agent"}, {"./cmd/sandbox-init"}} {
		command := exec.Command("go", append([]string{"build", "-ldflags", "-s -w", "-o", dir + "/"}, programs...)...) //nolint:noctx // ends by itself
		command.Dir, command.Env = "../../..", os.Environ()
		if len(programs) == 1 {
			command.Env = append(command.Env, "CGO_ENABLED=0") // it runs in images of any libc
		}
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", programs, err, out)
		}
	}
	return nil
}

// installation is a Redis with a worker.
type installation struct {
	env []string
	dir string
	// image is where Python runs: that with matplotlib, if it is here.
	image string
}

// install starts a Redis and a worker. When the test is over neither sessions nor containers may be left.
func install(t *testing.T) *installation {
	t.Helper()
	core := testenv.Image(t)
	addr := testenv.RedisServer(t)
	in := &installation{dir: t.TempDir(), image: core}
	if exec.CommandContext(t.Context(), "docker", "image", "inspect", fullImage).Run() == nil {
		in.image = fullImage
	}
	languages := filepath.Join(in.dir, "languages.yaml")
	require.NoError(t, os.WriteFile(languages, []byte(fmt.Sprintf("python: {image: %q}\n", in.image)), 0o600))
	in.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + in.dir, "TZ=UTC", "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"),
		"SANDLOOP_CONFIG=" + os.DevNull, "SANDLOOP_REDIS_ADDR=" + addr, "SANDLOOP_LANGUAGES_FILE=" + languages,
		"SANDLOOP_WORKER_CONCURRENCY=2", "SANDLOOP_SANDBOX_RUNTIME=" + testenv.Runtime(),
	}
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() {
		id, err := rdb.Get(context.Background(), "sandloop:installation").Result()
		require.NoError(t, err)
		requireNothingLeft(t, id)
		require.NoError(t, rdb.Close())
	})
	in.startWorker(t)
	t.Cleanup(func() { require.Empty(t, in.enqueue(t, "session", "list", "--json"), "sessions are left") })
	return in
}

func requireNothingLeft(t *testing.T, id string) {
	t.Helper()
	label := "label=" + labels.Installation + "=" + id
	require.Eventually(t, func() bool { return docker(t, "ps", "--all", "--quiet", "--filter", label) == "" }, bound, 200*time.Millisecond, "containers are left")
	for _, name := range strings.Fields(docker(t, "volume", "ls", "--quiet", "--filter", label)) {
		_ = exec.Command("docker", "volume", "rm", name).Run() //nolint:noctx // one that another installation uses stays
	}
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// process is a program that runs while a test does.
type process struct {
	*exec.Cmd
	stderr output
	ended  chan struct{}
}

// start starts a program. It is asked to end, and must, when the test is over.
func (in *installation) start(t *testing.T, command *exec.Cmd, env ...string) *process {
	t.Helper()
	p := &process{Cmd: command, ended: make(chan struct{})}
	p.Env, p.Dir, p.Stderr = append(append([]string{}, in.env...), env...), in.dir, &p.stderr
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, p.Start())
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.end(t)
		if t.Failed() {
			t.Logf("%s:\n%s", command.Args, &p.stderr)
		}
	})
	return p
}

func (p *process) end(t *testing.T) {
	t.Helper()
	_ = p.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(bound):
		_ = p.Process.Kill()
		<-p.ended
		t.Errorf("%s did not end within %s of SIGTERM", p.Args, bound)
	}
}

func (in *installation) startWorker(t *testing.T) {
	t.Helper()
	in.start(t, exec.Command(filepath.Join(bin, "worker"))) //nolint:noctx // ended in Cleanup
	require.Eventually(t, func() bool {
		var stats struct {
			Workers []struct{} `json:"workers"`
		}
		require.NoError(t, json.Unmarshal([]byte(in.enqueue(t, "stats", "--json")), &stats))
		return len(stats.Workers) == 1
	}, bound, 100*time.Millisecond)
}

// enqueue runs the command line client, which must succeed, and returns what it prints.
func (in *installation) enqueue(t *testing.T, args ...string) string {
	t.Helper()
	out, code := in.tryEnqueue(t, args...)
	require.Zero(t, code, "enqueue %s", args)
	return out
}

func (in *installation) tryEnqueue(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(bin, "enqueue"), args...)
	var stderr bytes.Buffer
	command.Dir, command.Env, command.Stderr = in.dir, in.env, &stderr
	out, err := command.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	if stderr.Len() > 0 {
		t.Logf("enqueue %s: %s", args, &stderr)
	}
	return strings.TrimSpace(string(out)), command.ProcessState.ExitCode()
}

// output is what a process writes while a test reads it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
