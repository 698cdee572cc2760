package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slow prints a line at its end, so that a run that was cut short printed nothing.
const slow = "import sys, time\ntime.sleep(%d)\nprint('done', sys.argv[1])"

// submitSlow puts jobs on the queue and waits until all of them run.
func (in *installation) submitSlow(t *testing.T, count, seconds int) []string {
	t.Helper()
	program := in.file(t, "slow.py", fmt.Sprintf(slow, seconds))
	var ids []string
	for i := range count {
		got := in.enqueue(t, "submit", program, "--", fmt.Sprint(i))
		require.Equal(t, 0, got.code, got.stderr)
		ids = append(ids, strings.TrimSpace(got.stdout))
	}
	for _, id := range ids {
		require.Eventually(t, func() bool { return in.status(t, id).State == "running" }, bound, 100*time.Millisecond)
	}
	return ids
}

type status struct {
	State   string `json:"state"`
	Worker  string `json:"worker"`
	Attempt int    `json:"attempt"`
}

func (in *installation) status(t *testing.T, id string) (s status) {
	t.Helper()
	got := in.enqueue(t, "status", id, "--json")
	require.Equal(t, 0, got.code, got.stderr)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &s))
	return s
}

// attempts returns what the record of a job says about each attempt: empty for the good one.
func (in *installation) attempts(t *testing.T, id string) (errors []string) {
	t.Helper()
	got := in.enqueue(t, "result", id, "--json")
	var record struct {
		Attempts []struct {
			Error string `json:"error"`
		} `json:"attempts"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &record), got.stderr)
	for _, attempt := range record.Attempts {
		errors = append(errors, attempt.Error)
	}
	return errors
}

// requireDone waits for the jobs of submitSlow and checks that each has its one result.
func (in *installation) requireDone(t *testing.T, ids []string) {
	t.Helper()
	got := in.enqueue(t, append([]string{"wait"}, ids...)...)
	require.Equal(t, 0, got.code, "%s%s", got.stdout, got.stderr)
	require.Equal(t, len(ids), strings.Count(got.stdout, "\n"), got.stdout)
	for i, id := range ids {
		got := in.enqueue(t, "result", id)
		require.Equal(t, fmt.Sprintf("done %d\n", i), got.stdout)
	}
}

func TestFourJobsOfAKilledWorkerEndOnceEach(t *testing.T) {
	in := newInstallation(t)
	first := in.startWorker(t)
	ids := in.submitSlow(t, 4, 6)
	second := in.startWorker(t)
	require.NoError(t, first.process.Process.Signal(syscall.SIGKILL))
	require.Equal(t, -1, first.requireEnd(t))
	killed := time.Now()
	in.requireDone(t, ids)
	t.Logf("all four results were there %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	for _, id := range ids {
		require.Equal(t, []string{"worker lost", ""}, in.attempts(t, id))
	}
	require.NoError(t, second.process.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, second.requireEnd(t))
}

func TestAStoppingWorkerFinishesItsJobs(t *testing.T) {
	in := newInstallation(t)
	w := in.startWorker(t)
	ids := in.submitSlow(t, 2, 3)
	require.NoError(t, w.process.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, w.requireEnd(t), w.log.String())
	in.requireDone(t, ids)
	for _, id := range ids {
		require.Equal(t, []string{""}, in.attempts(t, id))
	}
}

func TestAStoppingWorkerHandsBackWhatItCannotFinish(t *testing.T) {
	in := newInstallation(t)
	w := in.startWorker(t, "SANDLOOP_WORKER_GRACE=1s", "SANDLOOP_WORKER_MAX_ATTEMPTS=1")
	ids := in.submitSlow(t, 1, 8)
	require.NoError(t, w.process.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, w.requireEnd(t), w.log.String())
	require.Equal(t, "queued", in.status(t, ids[0]).State)
	in.startWorker(t, "SANDLOOP_WORKER_MAX_ATTEMPTS=1")
	in.requireDone(t, ids) // with one attempt allowed, a burnt one would be the end
	require.Equal(t, []string{"worker shut down", ""}, in.attempts(t, ids[0]))
}
