package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// batchSize is how many items the batch has: four run at once, the others wait.
const (
	batchSize  = 204
	batchSlots = 4
)

// TestACanceledBatchLeavesNothingAndGoesOn cancels a batch of 4 running and 200 queued items: while its command runs, after that was
// killed, and when it had gone on from there.
func TestACanceledBatchLeavesNothingAndGoesOn(t *testing.T) {
	in := newInstallation(t)
	path, results := filepath.Join(in.dir, "items.jsonl"), filepath.Join(in.dir, "results.jsonl")
	writeBatch(t, path, "import time\ntime.sleep(1000)\n")
	w := in.startWorker(t)
	owner := labels.Owner + "=" + in.workerID(t, w.process.Process.Pid)

	for round, killed := range []bool{false, true, false} {
		producer := in.startClient(t, "batch", path, "--results", results)
		in.awaitFull(t, owner)
		if killed {
			require.NoError(t, producer.process.Process.Signal(syscall.SIGKILL))
			require.Equal(t, -1, producer.requireEnd(t))
		}
		canceled, took := in.cancelBatch(t, results)
		requireNoJobs(t, owner)
		t.Logf("%d items, command killed: %t: canceled in %s: %+v", batchSize, killed, took, canceled)
		if killed {
			require.Equal(t, canceledBatch{Queued: batchSize - batchSlots, Running: batchSlots}, canceled)
			again, _ := in.cancelBatch(t, results)
			require.Equal(t, canceledBatch{Done: batchSize}, again)
			continue
		}
		require.Equal(t, batchSize, canceled.Queued+canceled.Running+canceled.Done, "%+v", canceled) // the producer cancels, too
		require.Equal(t, 130, producer.awaitEnd(t), producer.log)
		require.Contains(t, producer.log.String(), "the batch was canceled")
		lines := readResults(t, results)
		require.Len(t, lines, batchSize*(1+round/2))
		for _, line := range lines {
			require.Equal(t, "IE", line.Verdict, line.ID)
		}
	}

	writeBatch(t, path, "a, b = map(int, input().split())\nprint(a + b)\n")
	producer := in.startClient(t, "batch", path, "--results", results, "--reuse")
	require.Equal(t, 0, producer.awaitEnd(t), producer.log)
	verdicts := map[string]string{}
	for _, line := range readResults(t, results) {
		verdicts[line.ID] = line.Verdict // the last counts
	}
	require.Len(t, verdicts, batchSize)
	for id, verdict := range verdicts {
		require.Equal(t, "AC", verdict, id)
	}
	require.NoFileExists(t, results+".state")
}

// canceledBatch is what batch cancel says.
type canceledBatch struct{ Queued, Running, Done, Lasting int }

func writeBatch(t *testing.T, path, code string) {
	t.Helper()
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range batchSize {
		line, _ := item(10 * i) // each adds two numbers
		line["code"], line["limits"] = code, map[string]any{"wall_seconds": 300}
		require.NoError(t, encoder.Encode(line))
	}
	require.NoError(t, os.WriteFile(path, lines.Bytes(), 0o600))
}

// awaitFull waits until the slots are taken, each job has its container, and the others of the batch wait.
func (in *installation) awaitFull(t *testing.T, owner string) {
	t.Helper()
	require.Eventually(t, func() bool {
		got := in.enqueue(t, "stats", "--json")
		var stats struct {
			Queues []struct {
				Queue            string
				Pending, Running int
			}
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &stats), got.stderr)
		return stats.Queues[2].Running == batchSlots && stats.Queues[2].Pending == batchSize-batchSlots && len(jobContainers(t, owner)) == batchSlots
	}, 2*time.Minute, 50*time.Millisecond)
}

func (in *installation) cancelBatch(t *testing.T, results string) (canceled canceledBatch, took time.Duration) {
	t.Helper()
	got := in.enqueue(t, "batch", "cancel", results, "--json")
	require.Equal(t, 0, got.code, got.stderr)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &canceled), got.stdout)
	return canceled, got.took.Round(time.Millisecond)
}

// jobContainers names the containers of a worker that have a job.
func jobContainers(t *testing.T, owner string) (names []string) {
	t.Helper()
	for _, name := range strings.Fields(docker(t, "ps", "--all", "--format", "{{.Names}}", "--filter", "label="+owner)) {
		if strings.HasPrefix(name, "sandloop-job-") {
			names = append(names, name)
		}
	}
	return names
}

func requireNoJobs(t *testing.T, owner string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(jobContainers(t, owner)) == 0 }, 15*time.Second, 200*time.Millisecond)
}

// awaitEnd is requireEnd for what has much to do.
func (w *worker) awaitEnd(t *testing.T) int {
	t.Helper()
	select {
	case <-w.ended:
	case <-time.After(10 * time.Minute):
		require.FailNow(t, "it did not end", w.log)
	}
	return w.process.ProcessState.ExitCode()
}
