package e2e_test

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

// bin is where TestMain puts the programs.
var bin string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sandloop-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = dir
	build := exec.Command("go", "build", "-o", dir+"/", "./cmd/worker", "./cmd/enqueue", "./cmd/sandbox-init", "./cmd/egress-proxy") //nolint:noctx // ends by itself
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// notOnGVisor are the programs that end otherwise with SANDLOOP_TEST_RUNTIME=runsc. docs/gvisor.md tells of them, too.
var notOnGVisor = map[string]string{
	"TestExamplesDoWhatTheirTableSays/run_failures/fork_bomb.py_-t_3": testenv.OneLimit,
	"TestRun/a_child_that_takes_400_MB":                               testenv.OneLimit,
	"TestRun/a_fork_bomb":                                             testenv.OneLimit,
}

// installation is a Redis with whatever workers a test starts on it.
type installation struct {
	redis *redis.Client
	env   []string
	dir   string
}

// newInstallation starts a Redis. When the test is over nothing of it may be left in Docker.
func newInstallation(t testing.TB) *installation {
	t.Helper()
	return newInstallationOn(t, testenv.RedisServer(t))
}

func newInstallationOn(t testing.TB, addr string) *installation {
	t.Helper()
	testenv.Image(t)
	in := &installation{redis: redis.NewClient(&redis.Options{Addr: addr}), dir: t.TempDir()}
	in.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + in.dir, "TZ=UTC", "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"),
		"SANDLOOP_CONFIG=" + os.DevNull, "SANDLOOP_REDIS_ADDR=" + addr, "SANDLOOP_WORKER_CONCURRENCY=4", "SANDLOOP_SANDBOX_RUNTIME=" + testenv.Runtime(),
	}
	t.Cleanup(func() {
		id, err := in.redis.Get(context.Background(), "sandloop:installation").Result()
		require.NoError(t, err)
		requireNothingLeft(t, id)
		removeVolumes(t, id)
		require.NoError(t, in.redis.Close())
	})
	return in
}

// requireNothingLeft waits a little for containers that are being removed.
func requireNothingLeft(t testing.TB, id string) {
	t.Helper()
	require.NotEmpty(t, id)
	var left string
	require.Eventually(t, func() bool {
		left = containers(t, labels.Installation+"="+id)
		return left == ""
	}, 15*time.Second, 200*time.Millisecond, "containers are left: %s", &left)
}

// containers describes what there is with a label. Docker 20.10 can go on listing a
// container that is gone, which inspect then does not find.
func containers(t testing.TB, label string) (found string) {
	t.Helper()
	for _, container := range strings.Fields(docker(t, "ps", "--all", "--quiet", "--filter", "label="+label)) {
		out, err := exec.CommandContext(context.Background(), "docker", "inspect", "--format", "{{.Name}} {{.State.Status}}", container).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "No such") {
			found += string(out)
		}
	}
	return found
}

// removeVolumes removes the volume with sandbox-init, which is kept for the next worker of an
// installation. One that another installation uses by now stays.
func removeVolumes(t testing.TB, id string) {
	t.Helper()
	for _, name := range strings.Fields(docker(t, "volume", "ls", "--quiet", "--filter", "label="+labels.Installation+"="+id)) {
		if out, err := exec.Command("docker", "volume", "rm", name).CombinedOutput(); err != nil { //nolint:noctx // ends by itself
			require.Contains(t, string(out), "in use")
		}
	}
}

func docker(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// worker is a worker process.
type worker struct {
	process *exec.Cmd
	log     *logBuffer
	ended   chan struct{}
	err     error
}

// startWorker starts a worker and waits until it takes jobs; it is asked to end, and must end well, when the test is over.
func (in *installation) startWorker(t testing.TB, env ...string) *worker {
	t.Helper()
	w := &worker{process: exec.Command(filepath.Join(bin, "worker")), log: &logBuffer{}, ended: make(chan struct{})} //nolint:noctx // ended in Cleanup
	w.process.Env = append(append([]string{}, in.env...), env...)
	w.process.Dir = in.dir
	w.process.Stdout, w.process.Stderr = w.log, w.log
	w.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, w.process.Start())
	go func() {
		w.err = w.process.Wait()
		close(w.ended)
	}()
	t.Cleanup(func() {
		_ = w.process.Process.Signal(syscall.SIGTERM)
		select {
		case <-w.ended:
		case <-time.After(time.Minute):
			_ = w.process.Process.Kill()
			<-w.ended
			t.Errorf("worker did not end within a minute of SIGTERM")
		}
		if t.Failed() {
			t.Logf("worker %d:\n%s", w.process.Process.Pid, w.log)
		}
	})
	require.Eventually(t, func() bool { return in.isAlive(t, w.process.Process.Pid) }, bound, 100*time.Millisecond)
	return w
}

// isAlive tells whether a worker of this process has registered.
func (in *installation) isAlive(t testing.TB, pid int) bool {
	t.Helper()
	return in.workerID(t, pid) != ""
}

// workerID is the id of the worker of this process, empty if it has not registered.
func (in *installation) workerID(t testing.TB, pid int) string {
	t.Helper()
	got := in.enqueue(t, "stats", "--json")
	require.Equal(t, 0, got.code, got.stderr)
	var stats struct {
		Workers []struct {
			ID  string `json:"id"`
			PID int    `json:"pid"`
		} `json:"workers"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &stats))
	for _, worker := range stats.Workers {
		if worker.PID == pid {
			return worker.ID
		}
	}
	return ""
}

// requireEnd waits for the end of the process and returns its exit code, -1 after a signal.
func (w *worker) requireEnd(t testing.TB) int {
	t.Helper()
	select {
	case <-w.ended:
	case <-time.After(bound):
		require.FailNow(t, "worker did not end", "within %s", bound)
	}
	return w.process.ProcessState.ExitCode()
}

// logBuffer takes a process's output while a test reads it.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(data)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// ran is what a run of enqueue did.
type ran struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

// enqueue runs the command line client to its end.
func (in *installation) enqueue(t testing.TB, args ...string) ran {
	t.Helper()
	return in.enqueueIn(t, in.dir, "", args...)
}

func (in *installation) enqueueIn(t testing.TB, dir, stdin string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "enqueue"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, in.env, strings.NewReader(stdin), &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, ctx.Err(), "enqueue %s did not end: %s", args, stderr.String())
	return ran{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
}

// file writes a file for a command line and returns its path.
func (in *installation) file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(in.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
