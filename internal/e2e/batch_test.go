package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// batchItems is how many items the batch with faults has; SANDLOOP_BATCH_ITEMS is for a long run.
func batchItems(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SANDLOOP_BATCH_ITEMS")
	if text == "" {
		return 200
	}
	items, err := strconv.Atoi(text)
	require.NoError(t, err, "SANDLOOP_BATCH_ITEMS")
	require.GreaterOrEqual(t, items, 50, "SANDLOOP_BATCH_ITEMS")
	return items
}

// item returns the line of an item of the batch and the verdict that it must get, which its number decides.
func item(i int) (line map[string]any, verdict string) {
	line = map[string]any{
		"id": fmt.Sprintf("item-%05d", i), "language": "python",
		"code":  "a, b = map(int, input().split())\nprint(a + b)\n",
		"tests": []map[string]string{{"stdin": fmt.Sprintf("%d 1\n", i), "expected": fmt.Sprintf("%d\n", i+1)}},
	}
	switch i % 10 {
	case 3:
		line["code"] = "a, b = map(int, input().split())\nprint(a - b)\n"
		return line, "WA"
	case 6:
		line["code"] = "import sys\nsys.exit(3)\n"
		return line, "RE"
	case 7:
		line["language"], line["code"] = "bash", "read -r a b\necho $((a + b))\n"
		return line, "AC"
	case 8:
		line["code"] = "x = input().split()\nprint(x[0], x[1])\n"
		return line, "WA"
	}
	return line, "AC"
}

// batchLine is what the test reads of a line of the results.
type batchLine struct {
	ID      string `json:"id"`
	JobID   string `json:"job_id"`
	Verdict string `json:"verdict"`
}

func readResults(t *testing.T, path string) (lines []batchLine) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line batchLine
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line), scanner.Text())
		lines = append(lines, line)
	}
	return lines
}

// TestBatchWithFaultsGivesEachItemItsOneVerdict kills a worker, restarts Redis and kills the client while a
// batch runs. Every item has the verdict that it must have, once.
func TestBatchWithFaultsGivesEachItemItsOneVerdict(t *testing.T) {
	count := batchItems(t)
	server := testenv.StartRedis(t, "--appendonly", "yes", "--appendfsync", "everysec")
	in := newInstallationOn(t, server.Addr)
	path := filepath.Join(in.dir, "items.jsonl")
	want := writeItems(t, path, count)
	results := filepath.Join(in.dir, "results.jsonl")

	begun := time.Now()
	quick := []string{"SANDLOOP_REAPER_PERIOD=5s", "SANDLOOP_REAPER_GRACE=5s"} // of what the killed worker leaves
	first := in.startWorker(t, quick...)
	second := in.startWorker(t, quick...)
	killed := in.workerID(t, first.process.Process.Pid)
	client := in.startBatch(t, path, results)
	reach := func(part float64) {
		t.Helper()
		require.Eventually(t, func() bool { return countLines(t, results) >= int(part*float64(count)) }, 2*time.Hour, 50*time.Millisecond)
	}
	reach(0.2)
	memory := startMemoryWatch(t, second.process.Process.Pid)
	require.NoError(t, first.process.Process.Signal(syscall.SIGKILL))
	require.Equal(t, -1, first.requireEnd(t))
	reach(0.4)
	server.End(syscall.SIGTERM)
	server.Start(t)
	reach(0.6)
	require.NoError(t, client.process.Process.Signal(syscall.SIGKILL))
	<-client.ended
	client = in.startBatch(t, path, results)
	clientMemory := startMemoryWatch(t, client.process.Process.Pid)
	<-client.ended
	require.Equal(t, 1, client.process.ProcessState.ExitCode(), "some are not accepted; %s", client.log)

	got := map[string]string{}
	for _, line := range readResults(t, results) {
		require.NotContains(t, got, line.ID, "a second result")
		got[line.ID] = line.Verdict
	}
	require.Equal(t, want, got)
	// A container that was being made when its worker was killed has nobody but the reaper.
	require.Eventually(t, func() bool { return containers(t, labels.Owner+"="+killed) == "" }, time.Minute, 500*time.Millisecond)
	t.Logf("%d items in %s; worker %s; client after its restart %s", count, time.Since(begun).Round(time.Second), memory(), clientMemory())
}

// writeItems writes the batch and returns the verdicts by id.
func writeItems(t testing.TB, path string, count int) map[string]string {
	t.Helper()
	want := map[string]string{}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range count {
		line, verdict := item(i)
		require.NoError(t, encoder.Encode(line))
		want[line["id"].(string)] = verdict
	}
	require.NoError(t, os.WriteFile(path, lines.Bytes(), 0o600))
	return want
}

func countLines(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return bytes.Count(content, []byte("\n"))
}

// startBatch starts `enqueue batch` in the background.
func (in *installation) startBatch(t *testing.T, path, results string) *worker {
	t.Helper()
	return in.startClient(t, "batch", path, "--results", results, "--reuse", "--window", "100")
}

// startClient starts enqueue in the background.
func (in *installation) startClient(t *testing.T, args ...string) *worker {
	t.Helper()
	c := &worker{
		process: exec.Command(filepath.Join(bin, "enqueue"), args...), //nolint:noctx // ended in Cleanup
		log:     &logBuffer{}, ended: make(chan struct{}),
	}
	c.process.Env, c.process.Dir = in.env, in.dir
	c.process.Stdout, c.process.Stderr = c.log, c.log
	c.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, c.process.Start())
	go func() { c.err = c.process.Wait(); close(c.ended) }()
	t.Cleanup(func() {
		_ = c.process.Process.Kill()
		<-c.ended
		if t.Failed() {
			t.Logf("enqueue %d:\n%s", c.process.Process.Pid, c.log)
		}
	})
	return c
}

// startMemoryWatch reads the resident memory of a process every half second until it ends or the
// function that it returns is called, which tells the least and the most.
func startMemoryWatch(t *testing.T, pid int) func() string {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(stop); <-done })
	t.Cleanup(end)
	var readings []float64
	go func() {
		defer close(done)
		ticker := time.NewTicker(500 * time.Millisecond)
		defer ticker.Stop()
		for {
			if now, found := residentMiBOf(pid); found {
				readings = append(readings, now)
			}
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	return func() string {
		end()
		if len(readings) == 0 {
			return "not seen"
		}
		tenth := max(1, len(readings)/10)
		return fmt.Sprintf("%.1f MiB at first, %.1f at last, at most %.1f",
			median(readings[:tenth]), median(readings[len(readings)-tenth:]), slices.Max(readings))
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
