package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// Lab is an installation on a dockerd that can be broken, with a Redis of its own. A dockerd may have several labs, one
// after the other.
type Lab struct {
	// Daemon is where the containers are, and Redis where the jobs are.
	Daemon *Daemon
	Redis  *Redis
	// Proxy is what the producers reach Redis by. Each worker has its own.
	Proxy *Proxy
	// Client submits and awaits jobs through Proxy.
	Client *jobs.Client
	// Truth and Jobs read Redis itself, for whoever checks.
	Truth *redis.Client
	Jobs  *jobs.Client
	// Dir is the folder of the lab's programs.
	Dir string

	t            testing.TB
	installation string
	mu           sync.Mutex
	workers      []*Worker
}

// NewLab starts a Redis and makes the installation. What it has is closed when the test is over.
func NewLab(t testing.TB, daemon *Daemon) *Lab {
	t.Helper()
	l := &Lab{Daemon: daemon, Redis: StartRedis(t), Dir: t.TempDir(), t: t}
	l.Proxy = StartProxy(t, l.Redis.Addr)
	through, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: l.Proxy.Addr})
	if err != nil {
		t.Fatal(err)
	}
	l.Truth = redis.NewClient(&redis.Options{Addr: l.Redis.Addr})
	l.Client, l.Jobs = jobs.NewClient(through, jobs.ClientOptions{}), jobs.NewClient(l.Truth, jobs.ClientOptions{})
	for _, closer := range []io.Closer{through, l.Truth, l.Client, l.Jobs} {
		t.Cleanup(func() { _ = closer.Close() })
	}
	if l.installation, err = jobs.EnsureInstallation(context.Background(), l.Truth, "", ""); err != nil {
		t.Fatal(err)
	}
	return l
}

// env is the environment of a program that reaches Redis at addr.
func (l *Lab) env(addr string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.Dir, "TZ=UTC", "DOCKER_HOST=" + l.Daemon.Host, "SANDLOOP_CONFIG=" + os.DevNull,
		"SANDLOOP_REDIS_ADDR=" + addr, "SANDLOOP_LOG_LEVEL=debug", "SANDLOOP_LOG_FORMAT=json",
	}, more...)
}

// Worker is a worker process with its own way to Redis.
type Worker struct {
	*Process
	// Proxy is its way to Redis.
	Proxy *Proxy

	clock string
}

// StartWorker starts a worker with more environment, such as SANDLOOP_WORKER_CONCURRENCY=2. It does not wait: see AwaitWorker. When the
// test is over the worker is killed if it has not ended.
func (l *Lab) StartWorker(t testing.TB, env ...string) *Worker {
	t.Helper()
	return l.startWorker(t, filepath.Join(Programs(t), "worker"), env...)
}

// StartSteppable is StartWorker for one whose clock StepClock can step. It is built with one function of the standard
// library changed, which takes minutes the first time.
func (l *Lab) StartSteppable(t testing.TB, env ...string) *Worker {
	t.Helper()
	program, err := steppable()
	if err != nil {
		t.Fatal(err)
	}
	clock := filepath.Join(t.TempDir(), "clock")
	if err := writeClock(clock, 0); err != nil {
		t.Fatal(err)
	}
	w := l.startWorker(t, program, append(env, clockVariable+"="+clock, "SANDLOOP_SANDBOX_INIT_PATH="+filepath.Join(Programs(t), "sandbox-init"))...)
	w.clock = clock
	return w
}

func (l *Lab) startWorker(t testing.TB, program string, env ...string) *Worker {
	t.Helper()
	proxy := StartProxy(t, l.Redis.Addr)
	w := &Worker{Proxy: proxy}
	w.Process = startProcess(t, program, l.Dir, l.env(proxy.Addr, env...))
	l.mu.Lock()
	l.workers = append(l.workers, w)
	l.mu.Unlock()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("worker %d:\n%s", w.PID(), tail(w.Log.String(), 20_000))
		}
	})
	return w
}

// StepClock sets the worker's time of day to the machine's and d. Its monotonic clock stays as it is.
func (w *Worker) StepClock(d time.Duration) error {
	if w.clock == "" {
		return errors.New("step a worker's clock: want one of StartSteppable")
	}
	return writeClock(w.clock, d)
}

// Workers are all workers that were started in the lab, in order, those that have ended too.
func (l *Lab) Workers() []*Worker {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]*Worker(nil), l.workers...)
}

// WorkerID is the id under which a worker has registered; the error tells that it has not, or has ended.
func (l *Lab) WorkerID(ctx context.Context, w *Worker) (string, error) {
	stats, err := l.Jobs.Stats(ctx)
	if err != nil {
		return "", err
	}
	for _, info := range stats.Workers {
		if info.PID == w.PID() {
			return info.ID, nil
		}
	}
	if w.HasEnded() {
		return "", fmt.Errorf("worker %d has ended with code %d:\n%s", w.PID(), w.ExitCode(), tail(w.Log.String(), 4000))
	}
	return "", fmt.Errorf("worker %d has not registered", w.PID())
}

// AwaitWorker waits until a worker takes jobs and returns its id. It asks again until ctx ends.
func (l *Lab) AwaitWorker(ctx context.Context, w *Worker) (string, error) {
	for {
		id, err := l.WorkerID(ctx, w)
		if err == nil || w.HasEnded() {
			return id, err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%w\n%s", err, tail(w.Log.String(), 4000))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// StartEnqueue starts the command line client, which reaches Redis through the lab's Proxy.
func (l *Lab) StartEnqueue(t testing.TB, args ...string) *Process {
	t.Helper()
	return startProcess(t, filepath.Join(Programs(t), "enqueue"), l.Dir, l.env(l.Proxy.Addr), args...)
}

// StopWorkers asks all workers to end and returns once they have. The error names those that did not within a minute,
// which are killed, and those that ended badly after they were asked.
func (l *Lab) StopWorkers() error {
	var errs []error
	workers := l.Workers()
	asked := map[*Worker]bool{}
	for _, w := range workers {
		asked[w] = !w.HasEnded() && w.Signal(syscall.SIGTERM) == nil
	}
	expired := time.After(time.Minute)
	for _, w := range workers {
		select {
		case <-w.Ended():
			if asked[w] && w.ExitCode() != 0 {
				errs = append(errs, fmt.Errorf("worker %d ended with code %d", w.PID(), w.ExitCode()))
			}
		case <-expired:
			errs = append(errs, fmt.Errorf("worker %d did not end within a minute of SIGTERM", w.PID()), w.End(syscall.SIGKILL))
			expired = time.After(0)
		}
	}
	return errors.Join(errs...)
}

// Installation is the id by which the lab's containers and volumes are labelled.
func (l *Lab) Installation() string { return l.installation }

// Containers describes the installation's containers: name, state and status. Docker can go on listing one that is
// gone, which inspect then does not find.
func (l *Lab) Containers() ([]string, error) { return l.describe("{{.Name}} {{.State.Status}}") }

// Orphans lists, while no job waits or runs, the containers that are of no use to any worker that lives: those of jobs, and
// those whose owner is dead.
func (l *Lab) Orphans(ctx context.Context) ([]string, error) {
	containers, err := l.describe(`{{index .Config.Labels "` + labels.Owner + `"}} {{.Name}}`) //nolint:contextcheck // docker has a limit of its own
	if err != nil {
		return nil, err
	}
	stats, err := l.Jobs.Stats(ctx)
	if err != nil {
		return nil, err
	}
	alive := map[string]bool{}
	for _, info := range stats.Workers {
		alive[info.ID] = true
	}
	var found []string
	for _, about := range containers {
		owner, name, _ := strings.Cut(about, " ")
		if !alive[owner] || strings.HasPrefix(name, "/sandloop-job-") {
			found = append(found, about)
		}
	}
	return found, nil
}

// AwaitNoOrphans waits until Orphans finds nothing. What it still found when ctx ended is the error.
func (l *Lab) AwaitNoOrphans(ctx context.Context) error {
	return awaitNone(ctx, "orphans", func() ([]string, error) { return l.Orphans(ctx) })
}

// describe formats each of the installation's containers.
func (l *Lab) describe(format string) ([]string, error) {
	out, err := l.Daemon.Docker("ps", "--all", "--quiet", "--no-trunc", "--filter", "label="+labels.Installation+"="+l.installation)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, id := range strings.Fields(out) {
		about, err := l.Daemon.Docker("inspect", "--format", format, id)
		switch {
		case err == nil:
			found = append(found, strings.TrimPrefix(about, "/"))
		case !strings.Contains(err.Error(), "No such"):
			return found, err
		}
	}
	return found, nil
}

// Volumes lists the installation's volumes but the one with sandbox-init, which is kept for the next worker. They are
// anonymous ones: no other has its label.
func (l *Lab) Volumes() ([]string, error) {
	out, err := l.Daemon.Docker("volume", "ls", "--quiet", "--filter", "dangling=true")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range strings.Fields(out) {
		about, err := l.Daemon.Docker("volume", "inspect", "--format", `{{index .Labels "`+labels.Role+`"}}`, name)
		if err == nil && about != labels.RoleInitVolume {
			found = append(found, "volume "+name)
		}
	}
	return found, nil
}

// Leftovers lists what nobody needs once all workers have stopped and no job waits: containers and volumes in Docker, jobs in
// the running sets, workers that are still registered.
func (l *Lab) Leftovers(ctx context.Context) ([]string, error) {
	found, err := l.Containers() //nolint:contextcheck // docker has a limit of its own
	if err != nil {
		return nil, err
	}
	volumes, err := l.Volumes() //nolint:contextcheck // docker has a limit of its own
	if err != nil {
		return nil, err
	}
	found = append(found, volumes...)
	sets, err := l.Truth.Keys(ctx, jobs.DefaultPrefix+":running:*").Result()
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		found = append(found, "redis "+set)
	}
	return found, nil
}

// AwaitClean waits until Leftovers finds nothing. What it still found when ctx ended is the error.
func (l *Lab) AwaitClean(ctx context.Context) error {
	return awaitNone(ctx, "left over", func() ([]string, error) { return l.Leftovers(ctx) })
}

func awaitNone(ctx context.Context, what string, list func() ([]string, error)) error {
	for {
		left, err := list()
		if err == nil && len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s: %q", what, left), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// RemoveVolumes removes the volumes with sandbox-init, at the very end.
func (l *Lab) RemoveVolumes() error {
	out, err := l.Daemon.Docker("volume", "ls", "--quiet", "--filter", "label="+labels.Installation+"="+l.installation)
	for _, name := range strings.Fields(out) {
		_, rmErr := l.Daemon.Docker("volume", "rm", name)
		err = errors.Join(err, rmErr)
	}
	return err
}
