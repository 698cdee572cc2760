package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/workspace"
)

// notes is the session of these tests.
var notes = workspace.Session{Name: "notes"}

// sessions is an installation as a producer sees it who uses a session.
type sessions struct {
	*installation
	t      testing.TB
	client *jobs.Client
	store  *workspace.Store
}

func newSessions(t testing.TB) *sessions {
	t.Helper()
	in := newInstallation(t)
	client := jobs.NewClient(in.redis, jobs.ClientOptions{})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return &sessions{in, t, client, workspace.New(in.redis, workspace.Options{})}
}

// submit puts a program in Python on the queue, as a job of the session.
func (s *sessions) submit(source string, change ...func(*jobs.Job)) string {
	s.t.Helper()
	job := jobs.Job{
		Program: sandbox.Program{Language: "python", Source: []byte(source)}, Session: &jobs.Session{Name: notes.Name},
	}
	for _, change := range change {
		change(&job)
	}
	submission, err := s.client.Submit(s.t.Context(), job)
	require.NoError(s.t, err)
	return submission.ID
}

func (s *sessions) await(id string) jobs.Record {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*bound)
	defer cancel()
	record, err := s.client.Await(ctx, id)
	require.NoError(s.t, err)
	return record
}

// run runs a program in the session. It must end well.
func (s *sessions) run(source string, change ...func(*jobs.Job)) jobs.Record {
	s.t.Helper()
	record := s.await(s.submit(source, change...))
	require.Equal(s.t, sandbox.OutcomeOK, record.Result.Outcome, "%s %s", record.Result.Message, record.Result.Stderr.Data)
	require.NotNil(s.t, record.Session)
	return record
}

// files are those of the session.
func (s *sessions) files() map[string]string {
	s.t.Helper()
	files, err := s.store.Files(s.t.Context(), notes)
	if errors.Is(err, workspace.ErrNotFound) {
		return nil
	}
	require.NoError(s.t, err)
	found := map[string]string{}
	for _, file := range files {
		found[file.Path] = string(file.Data)
	}
	return found
}

// kill ends a worker as a power cut would. The returned function waits until one that was started with sweeps has removed
// what that left.
func (s *sessions) kill(w *worker) (requireSwept func()) {
	s.t.Helper()
	id := s.workerID(s.t, w.process.Process.Pid)
	require.NotEmpty(s.t, id)
	require.NoError(s.t, w.process.Process.Signal(syscall.SIGKILL))
	require.Equal(s.t, -1, w.requireEnd(s.t))
	return func() {
		s.t.Helper()
		require.Eventually(s.t, func() bool { return containers(s.t, labels.Owner+"="+id) == "" }, bound, 200*time.Millisecond)
	}
}

// sweeps has a worker remove soon what a dead one left, such as a container that was never started.
var sweeps = []string{"SANDLOOP_REAPER_PERIOD=5s", "SANDLOOP_REAPER_GRACE=5s"}

func (s *sessions) stop(w *worker) {
	s.t.Helper()
	require.NoError(s.t, w.process.Process.Signal(syscall.SIGTERM))
	require.Equal(s.t, 0, w.requireEnd(s.t), w.log.String())
}

func TestThreeWorkersUseASessionInTurn(t *testing.T) {
	s := newSessions(t)
	var workers []string
	for turn := 1; turn <= 3; turn++ {
		w := s.startWorker(t)
		id := s.workerID(t, w.process.Process.Pid)
		record := s.run(fmt.Sprintf(`
import os
seen = open("log").read() if os.path.exists("log") else ""
print(seen, end="")
open("log", "a").write("worker %d\n")
os.makedirs("turn/%d")
open("turn/%d/run.sh", "w").write("#!/bin/sh\necho %d\n")
os.chmod("turn/%d/run.sh", 0o755)
`, turn, turn, turn, turn, turn))
		want := ""
		for before := 1; before < turn; before++ {
			want += fmt.Sprintf("worker %d\n", before)
		}
		require.Equal(t, want, string(record.Result.Stdout.Data))
		require.EqualValues(t, turn, record.Session.Version)
		require.Equal(t, []string{"log", fmt.Sprintf("turn/%d/run.sh", turn)}, record.Session.Written)
		require.Equal(t, id, record.Attempts[0].Worker)
		workers = append(workers, id)
		if turn == 3 { // what was written elsewhere can be executed, imported and deleted here
			record = s.run("for n in 1 2 3; do turn/$n/run.sh; done; rm -r turn/1", func(job *jobs.Job) { job.Program.Language = "bash" })
			require.Equal(t, "1\n2\n3\n", string(record.Result.Stdout.Data))
			require.Equal(t, []string{"turn/1/run.sh"}, record.Session.Deleted)
		}
		s.stop(w)
	}
	require.NotEqual(t, workers[0], workers[1])
	require.NotEqual(t, workers[1], workers[2])
	require.Equal(t, map[string]string{
		"log": "worker 1\nworker 2\nworker 3\n", "turn/2/run.sh": "#!/bin/sh\necho 2\n", "turn/3/run.sh": "#!/bin/sh\necho 3\n",
	}, s.files())
}

func TestTwoJobsOnASessionLoseNoUpdate(t *testing.T) {
	s := newSessions(t)
	s.startWorker(t)
	s.startWorker(t)
	s.run(`open("n", "w").write("0")`)
	const add = `
import time
n = int(open("n").read())
time.sleep(0.3)
open("n", "w").write(str(n + 1))
print(n)
`
	const count = 6
	var ids []string
	for range count {
		ids = append(ids, s.submit(add))
	}
	var seen []string
	for _, id := range ids {
		record := s.await(id)
		require.Equal(t, sandbox.OutcomeOK, record.Result.Outcome, record.Result.Message)
		require.Len(t, record.Attempts, 1, "to wait is no failure")
		seen = append(seen, strings.TrimSpace(string(record.Result.Stdout.Data)))
	}
	require.ElementsMatch(t, []string{"0", "1", "2", "3", "4", "5"}, seen)
	require.Equal(t, map[string]string{"n": "6"}, s.files())
}

func TestAKilledWorkerLeavesTheFilesOfTheLastFinishedJob(t *testing.T) {
	s := newSessions(t)
	first := s.startWorker(t)
	s.run(`open("log", "w").write("first\n"); open("keep", "w").write("k")`)
	good := map[string]string{"log": "first\n", "keep": "k"}
	id := s.submit(`
import os, time
open("log", "a").write("second\n")
os.remove("keep")
print("half", flush=True)
time.sleep(4)
`, func(job *jobs.Job) { job.Follow = true })
	ctx, stop := context.WithTimeout(t.Context(), bound)
	defer stop()
	_ = s.client.Follow(ctx, id, func(out sandbox.Output) {
		if string(out.Data) == "half\n" {
			stop()
		}
	})
	require.ErrorIs(t, context.Cause(ctx), context.Canceled, "it never came so far")
	requireSwept := s.kill(first)
	killed := time.Now()
	require.Equal(t, good, s.files())
	s.startWorker(t, sweeps...)
	require.Equal(t, good, s.files())
	record := s.await(id)
	t.Logf("the job that was cut short had its result %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	require.Equal(t, sandbox.OutcomeOK, record.Result.Outcome, record.Result.Message)
	require.Equal(t, []string{"worker lost", ""}, s.attempts(t, id))
	require.EqualValues(t, 2, record.Session.Version)
	require.Equal(t, map[string]string{"log": "first\nsecond\n"}, s.files(), "it ended once")
	requireSwept()
}
