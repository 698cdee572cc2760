package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// canceling is an installation without warm containers, so that all of its containers are of jobs, with what Docker tells of
// them and Redis of results.
type canceling struct {
	*sessions
	events *containerEvents
	ends   *ends
}

// withoutPool has a worker keep no container ready.
const withoutPool = "SANDLOOP_SANDBOX_POOL_SIZE=0"

func newCanceling(t testing.TB) *canceling {
	t.Helper()
	c := &canceling{sessions: newSessions(t)}
	c.env = append(c.env, withoutPool)
	c.ends = watchEnds(t, c.redis)
	id := "cancel-" + fmt.Sprint(time.Now().UnixNano())
	require.NoError(t, c.redis.Set(t.Context(), "sandloop:installation", id, 0).Err())
	c.events = watchContainers(t, id)
	return c
}

// ends counts how often each job was said to be done.
type ends struct {
	mu    sync.Mutex
	count map[string]int
}

func watchEnds(t testing.TB, rdb *redis.Client) *ends {
	t.Helper()
	e := &ends{count: map[string]int{}}
	pubsub := rdb.PSubscribe(t.Context(), "sandloop:done:*")
	_, err := pubsub.Receive(t.Context())
	require.NoError(t, err)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for message := range pubsub.Channel() {
			e.mu.Lock()
			e.count[strings.TrimPrefix(message.Channel, "sandloop:done:")]++
			e.mu.Unlock()
		}
	}()
	t.Cleanup(func() { _ = pubsub.Close(); <-heard })
	return e
}

func (e *ends) of(id string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.count[id]
}

// containerEvents is what happened to the containers of an installation, by the daemon's clock.
type containerEvents struct {
	mu sync.Mutex
	// at is when each action came to a container, by id.
	at map[string]map[string]time.Time
	// name is the last one of a container.
	name map[string]string
}

func watchContainers(t testing.TB, installation string) *containerEvents {
	t.Helper()
	e := &containerEvents{at: map[string]map[string]time.Time{}, name: map[string]string{}}
	command := exec.Command("docker", "events", "--since", fmt.Sprint(time.Now().Unix()), //nolint:noctx // ended below
		"--filter", "type=container", "--filter", "label="+labels.Installation+"="+installation,
		"--format", "{{.TimeNano}} {{.Action}} {{.Actor.ID}} {{.Actor.Attributes.name}}")
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			e.hear(lines.Text())
		}
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-heard
		_ = command.Wait()
	})
	return e
}

func (e *containerEvents) hear(line string) {
	var nanos int64
	var action, id, name string
	if n, _ := fmt.Sscan(line, &nanos, &action, &id, &name); n < 4 {
		return // one of several words, such as that of a health check
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.at[id] == nil {
		e.at[id] = map[string]time.Time{}
	}
	e.at[id][action], e.name[id] = time.Unix(0, nanos), name
}

// when is the time of an action on the container of a job's first attempt, and zero as long as it has not come.
func (e *containerEvents) when(jobID, action string) (at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, actions := range e.at {
		if e.name[id] == labels.JobName(jobID, 1) && actions[action].After(at) {
			at = actions[action]
		}
	}
	return at
}

// awaitAction waits for an action on the container of a job's first attempt.
func (c *canceling) awaitAction(id, action string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return !c.events.when(id, action).IsZero() }, bound, 2*time.Millisecond, "%s of the container of job %s", action, id)
}

// plain makes a job no job of the session, and written that in another language.
func plain(job *jobs.Job) { job.Session = nil }

func written(language string) func(*jobs.Job) {
	return func(job *jobs.Job) { job.Session, job.Program.Language = nil, language }
}

// awaitOutput waits until the program of a job, which is followed, has written something.
func (c *canceling) awaitOutput(id string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), bound)
	defer cancel()
	wrote := false
	_ = c.client.Follow(ctx, id, func(sandbox.Output) { wrote = true; cancel() })
	require.True(c.t, wrote, "job %s wrote nothing", id)
}

func followed(job *jobs.Job) { job.Follow = true }

// canceled is how long it took from the call of Cancel.
type canceled struct {
	// call is until Cancel returned, result until the result was there and gone until the daemon had removed the container.
	call, result, gone time.Duration
	record             jobs.Record
}

// cancel cancels a job that has a container and waits until there is neither. The outcome is that of a canceled job.
func (c *canceling) cancel(id string) (took canceled) {
	c.t.Helper()
	took = c.cancelAnyhow(id)
	require.Equal(c.t, sandbox.OutcomeCanceled, took.record.Result.Outcome, took.record.Result.Message)
	require.False(c.t, took.record.Result.OK)
	return took
}

// cancelAnyhow is cancel for a job that may have ended otherwise at the same moment.
func (c *canceling) cancelAnyhow(id string) (took canceled) {
	c.t.Helper()
	begun := time.Now()
	_, err := c.client.Cancel(c.t.Context(), id)
	require.NoError(c.t, err)
	took.call = time.Since(begun)
	took.record = c.await(id)
	took.result = time.Since(begun)
	require.Eventually(c.t, func() bool { return !c.events.when(id, "destroy").IsZero() }, bound, 5*time.Millisecond, "container of job %s is left", id)
	took.gone = c.events.when(id, "destroy").Sub(begun)
	c.requireOneEnd(id)
	return took
}

// requireOneEnd makes sure that a job has one result, and that canceling it again changes nothing.
func (c *canceling) requireOneEnd(id string) {
	c.t.Helper()
	before := c.await(id)
	status, err := c.client.Cancel(c.t.Context(), id)
	require.NoError(c.t, err)
	require.Equal(c.t, jobs.Done, status.State)
	require.Equal(c.t, before, c.await(id))
	require.Eventually(c.t, func() bool { return c.ends.of(id) > 0 }, bound, time.Millisecond)
	require.Equal(c.t, 1, c.ends.of(id), "job %s was said to be done", id)
}

// endless are programs that do not end by themselves, each with what brings a job to the point at which it is canceled.
func endless() map[string]func(*canceling) string {
	printing := func(language, source string) func(*canceling) string {
		return func(c *canceling) string {
			id := c.submit(source, written(language), followed)
			c.awaitOutput(id)
			return id
		}
	}
	return map[string]func(*canceling) string{
		"sleeping":          printing("python", "import time\nprint('on', flush=True)\ntime.sleep(600)"),
		"computing":         printing("python", "print('on', flush=True)\nwhile True: pass"),
		"deaf to signals":   printing("python", "import signal, time\nfor n in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(n, signal.SIG_IGN)\nprint('on', flush=True)\ntime.sleep(600)"),
		"a fork bomb":       printing("bash", "echo on\nf() { f | f & }\nf\nwhile true; do sleep 1; done"),
		"many daemons":      printing("python", "import os, time\nfor _ in range(40):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\nprint('on', flush=True)\ntime.sleep(600)"),
		"a flood of output": printing("bash", "yes"),
		"compiling": func(c *canceling) string {
			id := c.submit(slowToCompile, written("cpp"))
			c.awaitAction(id, "start")
			require.Eventually(c.t, func() bool {
				out, err := exec.CommandContext(c.t.Context(), "docker", "top", labels.JobName(id, 1)).CombinedOutput()
				return err == nil && strings.Contains(string(out), "cc1plus")
			}, bound, 10*time.Millisecond)
			return id
		},
		"many tests": func(c *canceling) string {
			id := c.submit("import time\nprint('on', flush=True)\ntime.sleep(0.3)", graded(200), followed)
			c.awaitOutput(id)
			return id
		},
	}
}

// slowToCompile keeps the compiler busy for several seconds, until it has had enough of it.
const slowToCompile = `constexpr long f() { long s = 0; for (int i = 0; i < 100000; i++) for (int j = 0; j < 100000; j++) s += i ^ j; return s; }
static_assert(f() != 1, "");
int main() {}
`

// graded has a job judged on so many tests.
func graded(tests int) func(*jobs.Job) {
	return func(job *jobs.Job) {
		job.Session = nil
		suite := &grade.Suite{Checker: grade.Checker{Kind: grade.CheckNone}}
		for n := range tests {
			suite.Tests = append(suite.Tests, grade.Test{Name: fmt.Sprint(n)})
		}
		job.Grade = &grade.Task{Suite: suite, Mode: grade.Everything}
	}
}

// middle and most are the median and the largest of durations.
func middle(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func most(all []time.Duration) time.Duration { return slices.Max(all) }
