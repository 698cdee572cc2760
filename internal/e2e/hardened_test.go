package e2e_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
	"github.com/sandloop/sandloop/internal/tracing/otlptest"
)

// hardened is an installation with all that docs/security-setup.md has: users of Redis, jobs that are signed and sealed, a proxy before Docker.
type hardened struct {
	*installation
	redisDir string
	files    string // what scripts/secrets.sh made
	secrets  []string
	proxy    *logBuffer
	traces   *otlptest.Receiver
}

func newHardened(t *testing.T) *hardened {
	t.Helper()
	testenv.Image(t)
	h := &hardened{redisDir: t.TempDir(), files: t.TempDir(), proxy: &logBuffer{}, traces: otlptest.Start(t)}
	h.makeSecrets(t)
	addr := testenv.RedisServer(t, "--aclfile", filepath.Join(h.files, "users.acl"),
		"--dir", h.redisDir, "--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
	in := &installation{dir: t.TempDir(), redis: redis.NewClient(&redis.Options{
		Addr: addr, Username: testenv.RedisAdmin, Password: testenv.RedisPassword(testenv.RedisAdmin),
	})}
	h.installation = in
	in.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + in.dir, "TZ=UTC", "SANDLOOP_CONFIG=" + os.DevNull, "SANDLOOP_REDIS_ADDR=" + addr, "SANDLOOP_LOG_LEVEL=debug",
		"SANDLOOP_WORKER_CONCURRENCY=2", "SANDLOOP_REDIS_USERNAME=" + testenv.RedisProducer,
		"SANDLOOP_REDIS_PASSWORD_FILE=" + filepath.Join(h.files, "producer-password"),
		"SANDLOOP_JOBS_SIGN_KEY_FILE=" + filepath.Join(h.files, "sign-key"), "SANDLOOP_JOBS_SEAL_KEY_FILE=" + filepath.Join(h.files, "seal-key"),
		"SANDLOOP_TRACING_ENDPOINT=" + h.traces.URL, "SANDLOOP_TRACING_HEADERS_FILE=" + in.file(t, "headers", "Authorization: Bearer hunter2-of-traces\n"),
		"OTEL_BSP_SCHEDULE_DELAY=50",
	}
	t.Cleanup(func() {
		id, err := in.redis.Get(context.Background(), "sandloop:installation").Result()
		require.NoError(t, err)
		requireNothingLeft(t, id)
		removeVolumes(t, id)
		require.NoError(t, in.redis.Close())
	})
	return h
}

// makeSecrets runs the script that operators do, and adds a user of Redis to look around with.
func (h *hardened) makeSecrets(t *testing.T) {
	t.Helper()
	_, err := os.ReadFile("../../scripts/secrets.sh") // so that a result in Go's cache does not outlive a change of it
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "../../scripts/secrets.sh", h.files).CombinedOutput()
	require.NoError(t, err, "%s", out)
	h.secrets = []string{"hunter2-of-traces"}
	for _, name := range []string{"sign-key", "seal-key", "worker-password", "producer-password", "admin-token"} {
		content, err := os.ReadFile(filepath.Join(h.files, name))
		require.NoError(t, err)
		h.secrets = append(h.secrets, strings.TrimSpace(string(content)))
	}
	users, err := os.OpenFile(filepath.Join(h.files, "users.acl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(users, "user %s on >%s ~* &* +@all\n", testenv.RedisAdmin, testenv.RedisPassword(testenv.RedisAdmin))
	require.NoError(t, err)
	require.NoError(t, users.Close())
}

// startProxy starts docker-proxy and returns where workers find it.
func (h *hardened) startProxy(t *testing.T) (host string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "proxy-") //nolint:usetesting // the path of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	socket := filepath.Join(dir, "docker.sock")
	process := exec.Command(filepath.Join(bin, "worker"), "docker-proxy", "--listen", socket) //nolint:noctx // ended in Cleanup
	process.Env = []string{"HOME=" + h.dir, "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"), "SANDLOOP_CONFIG=" + os.DevNull}
	process.Stdout, process.Stderr = h.proxy, h.proxy
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		require.NoError(t, process.Process.Signal(syscall.SIGTERM))
		require.NoError(t, process.Wait(), "%s", h.proxy)
	})
	require.Eventually(t, func() bool { _, err := os.Stat(socket); return err == nil }, bound, 10*time.Millisecond)
	return "unix://" + socket
}

func (h *hardened) startWorker(t *testing.T) *worker {
	t.Helper()
	return h.installation.startWorker(
		t, "DOCKER_HOST="+h.startProxy(t), "SANDLOOP_REDIS_USERNAME="+testenv.RedisWorker, "SANDLOOP_JOBS_SIGN_KEY_FILE=",
		"SANDLOOP_REDIS_PASSWORD_FILE="+filepath.Join(h.files, "worker-password"), "SANDLOOP_JOBS_VERIFY_KEY_FILE="+filepath.Join(h.files, "sign-key"),
		"SANDLOOP_ADMIN_ADDR=127.0.0.1:0", "SANDLOOP_ADMIN_TOKEN_FILE="+filepath.Join(h.files, "admin-token"),
	)
}

func TestAHardenedInstallationWorksAndKeepsItsSecrets(t *testing.T) {
	h := newHardened(t)
	w := h.startWorker(t)
	got := h.enqueueIn(t, h.dir, "MARKER stdin", "run", h.file(t, "a.py", "import sys\nprint(sys.stdin.read(), 'MARKER stdout')  # MARKER source"), "--stdin", "-")
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, "MARKER stdin MARKER stdout\n", got.stdout)
	for n, want := range []string{"1\n", "2\n"} { // plain and live, on the same files
		source := "import pathlib\nn = pathlib.Path('n')\nn.write_text(str(int(n.read_text()) + 1 if n.exists() else 1))\nprint(n.read_text())  # MARKER cell"
		got = h.enqueue(t, append([]string{"run", "--session", "s", h.file(t, "cell.py", source)}, []string{"--live"}[:n]...)...)
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, want, got.stdout)
	}
	batch := h.file(t, "batch.jsonl", `{"id":"a","language":"python","code":"print(input())  # MARKER submission","stdin":"MARKER","expected":"MARKER"}`+"\n")
	got = h.enqueue(t, "batch", batch, "--results", filepath.Join(h.dir, "results.jsonl"))
	require.Equal(t, 0, got.code, got.stderr)
	results, err := os.ReadFile(filepath.Join(h.dir, "results.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(results), `"AC"`)

	got = h.enqueue(t, "submit", h.file(t, "long.sh", "sleep 600"))
	require.Equal(t, 0, got.code, got.stderr)
	id := strings.TrimSpace(got.stdout)
	require.Eventually(t, func() bool { return strings.Contains(h.enqueue(t, "status", id).stdout, "running") }, bound, 50*time.Millisecond)
	h.requireNoSecret(t, "the list of processes", processes(t))
	installation, err := h.redis.Get(t.Context(), "sandloop:installation").Result()
	require.NoError(t, err)
	inspected := ""
	for _, container := range strings.Fields(docker(t, "ps", "--all", "--quiet", "--filter", "label="+labels.Installation+"="+installation)) {
		text, _ := exec.CommandContext(t.Context(), "docker", "inspect", container).CombinedOutput() // a warm one may be gone by now
		inspected += string(text)
	}
	require.Contains(t, inspected, id, "the job's container is among them")
	h.requireNoSecret(t, "docker inspect", inspected)
	require.Equal(t, 0, h.enqueue(t, "cancel", id).code)

	evil := append([]string{}, h.env...) // somebody who has the producer's password and no key
	h.env = append(evil, "SANDLOOP_JOBS_SIGN_KEY_FILE=")
	got = h.enqueue(t, "run", h.file(t, "evil.py", "print('MARKER ran')"))
	h.env = evil
	require.NotEqual(t, 0, got.code)
	require.Contains(t, got.stderr, "it is not signed")
	require.NotContains(t, got.stdout, "ran")

	require.Equal(t, 0, w.stop(t))
	h.requireNoSecret(t, "the worker's log", w.log.String())
	h.requireNoSecret(t, "the proxy's log", h.proxy.String())
	require.NotContains(t, h.proxy.String(), "refused", "a worker asks for nothing that it does not get")
	h.requireNoSecret(t, "traces", h.traces.Raw())
	require.NotEmpty(t, h.traces.Raw())
	written := everything(t, h.redisDir)
	h.requireNoSecret(t, "Redis", written)
	require.NotContains(t, written, "MARKER")
	require.Contains(t, written, "sandloop:{", "it did see what Redis wrote")
	log, err := h.redis.ACLLog(t.Context(), 100).Result()
	require.NoError(t, err)
	require.Empty(t, log)
}

func (h *hardened) requireNoSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range h.secrets {
		require.NotContains(t, text, secret, where)
	}
}

// processes is what ps shows of every process, to everybody.
func processes(t *testing.T) (all string) {
	t.Helper()
	lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err == nil { // it may have ended
			all += string(text) + "\n"
		}
	}
	require.Contains(t, all, "docker-proxy")
	return all
}

// everything is the content of all files below a folder.
func everything(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		_, _ = fmt.Fprintf(&all, "%s", content)
		return err
	}))
	return all.String()
}
