package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// inInterpreter has a job run in the live interpreter of its session.
func inInterpreter(job *jobs.Job) { job.Session.Live = true }

// call runs a cell in the session's interpreter and returns its value.
func (s *sessions) call(source string, change ...func(*jobs.Job)) (string, *workspace.LiveReport) {
	s.t.Helper()
	record := s.run(source, append(change, inInterpreter)...)
	require.NotNil(s.t, record.Session.Live)
	return record.Session.Live.Value, record.Session.Live
}

func TestVariablesPersistOverCallsThroughTwoWorkers(t *testing.T) {
	s := newSessions(t)
	// The one slot of the holder is taken, so that every call reaches it through the other worker.
	holder := s.startWorker(t, "SANDLOOP_WORKER_CONCURRENCY=1")
	holderID := s.workerID(t, holder.process.Process.Pid)
	value, report := s.call("x = 0\nopen('made', 'w').write('by the first call')")
	require.Equal(t, "17", value, "how many characters write has written")
	require.True(t, report.Started)
	require.Empty(t, report.Lost)
	blocker := s.submit("import time; time.sleep(600)", func(job *jobs.Job) { job.Session = nil })
	require.Eventually(t, func() bool { return s.status(t, blocker).Worker == holderID }, bound, 50*time.Millisecond)
	other := s.startWorker(t, sweeps...)
	for n := 1; n <= 5; n++ {
		record := s.run("x += 1\nx", inInterpreter)
		require.Equal(t, fmt.Sprint(n), record.Session.Live.Value)
		require.False(t, record.Session.Live.Started)
		require.Equal(t, holderID, record.Attempts[len(record.Attempts)-1].Worker)
		require.Len(t, record.Attempts, 1, "to be forwarded is no failure")
	}

	requireSwept := s.kill(holder)
	record := s.await(s.submit("print(open('made').read())\nx", inInterpreter))
	require.Equal(t, sandbox.OutcomeNonzeroExit, record.Result.Outcome, record.Result.Message)
	require.Equal(t, "by the first call\n", string(record.Result.Stdout.Data), "files are there")
	require.Contains(t, string(record.Result.Stderr.Data), "NameError: name 'x' is not defined")
	require.True(t, record.Session.Live.Started)
	require.Equal(t, "the worker that held the interpreter was lost", record.Session.Live.Lost)
	require.Equal(t, s.workerID(t, other.process.Process.Pid), record.Attempts[len(record.Attempts)-1].Worker)
	value, report = s.call("x = 7\nx")
	require.Equal(t, "7", value)
	require.False(t, report.Started)
	_, err := s.client.Cancel(t.Context(), blocker)
	require.NoError(t, err)
	requireSwept()
}

func TestAStoppedWorkerHandsOnTheFilesOfALiveSession(t *testing.T) {
	s := newSessions(t)
	first := s.startWorker(t)
	s.call("x = 1\nopen('a', 'w').write('a')")
	s.stop(first)
	s.startWorker(t)
	value, report := s.call("open('a').read()")
	require.Equal(t, "'a'", value)
	require.True(t, report.Started)
	require.Equal(t, "its worker was stopped", report.Lost)
}

func TestAnIdleInterpreterEnds(t *testing.T) {
	s := newSessions(t)
	s.startWorker(t, "SANDLOOP_SESSIONS_IDLE_TIMEOUT=1s")
	s.call("x = 1")
	require.Eventually(t, func() bool {
		head, err := s.store.Info(t.Context(), notes)
		return err == nil && head.Live == nil
	}, bound, 100*time.Millisecond)
	_, report := s.call("y = 1")
	require.True(t, report.Started)
	require.Equal(t, "nobody called it for 1s", report.Lost)
}

func TestAnInterpreterMakesRoomForAnotherSession(t *testing.T) {
	s := newSessions(t)
	s.startWorker(t, "SANDLOOP_SESSIONS_LIVE=1")
	s.call("x = 1\nopen('a', 'w').write('a')")
	other := func(job *jobs.Job) { job.Session.Name, job.Program.Language = "other", "node" }
	value, report := s.call("let x = 2; x", other)
	require.Equal(t, "2", value)
	require.True(t, report.Started)
	require.Empty(t, report.Lost)
	value, _ = s.call("x + 40", other)
	require.Equal(t, "42", value)
	value, report = s.call("open('a').read()")
	require.Equal(t, "'a'", value)
	require.Equal(t, "it made room for another session on its worker", report.Lost)
}

func TestALiveCallThatIsCanceledLeavesVariablesAndFiles(t *testing.T) {
	s := newSessions(t)
	s.startWorker(t)
	s.call("x = 1\nopen('a', 'w').write('before')")
	id := s.submit("import time\nx = 2\nopen('a', 'w').write('half')\nwhile True: time.sleep(0.1)", inInterpreter)
	require.Eventually(t, func() bool { return s.status(t, id).State == "running" }, bound, 20*time.Millisecond)
	_, err := s.client.Cancel(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, s.await(id).Result.Outcome)
	value, report := s.call("open('a').read()")
	require.Equal(t, "'before'", value)
	require.False(t, report.Started)
	require.Equal(t, map[string]string{"a": "before"}, s.files())
}

func TestALiveCallAboveTheQuotaIsUndone(t *testing.T) {
	s := newSessions(t)
	s.startWorker(t, "SANDLOOP_SESSIONS_QUOTA=10KiB")
	s.call("open('a', 'w').write('good')")
	record := s.run("open('a', 'w').write('bad')\nopen('large', 'wb').write(bytes(20000))", inInterpreter)
	require.NotEmpty(t, record.Session.Refused)
	require.EqualValues(t, 1, record.Session.Version)
	require.Equal(t, map[string]string{"a": "good"}, s.files())
	value, report := s.call("import os\nsorted(os.listdir()), open('a').read()")
	require.Equal(t, "(['a'], 'good')", value)
	require.False(t, report.Started)
}
