package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

const adminToken = "correct-horse-battery"

var adminAddr = regexp.MustCompile(`"admin":"(127\.0\.0\.1:[0-9]+)"`)

// startWatched starts a worker with its operations endpoint, and returns where that is.
func (in *installation) startWatched(t *testing.T) (w *worker, base string) {
	t.Helper()
	w = in.startWorker(t, "SANDLOOP_ADMIN_ADDR=127.0.0.1:0", "SANDLOOP_ADMIN_TOKEN="+adminToken)
	found := adminAddr.FindStringSubmatch(w.log.String())
	require.Len(t, found, 2, w.log)
	return w, "http://" + found[1]
}

// fetch gets a page, with the token.
func fetch(t *testing.T, url string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	request.SetBasicAuth("operator", adminToken)
	client := &http.Client{Timeout: testenv.Scale(t, bound), Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

// requireProbes waits until the worker lives and is as ready as that.
func requireProbes(t *testing.T, base string, ready int) {
	t.Helper()
	require.Eventually(t, func() bool {
		isReady, _ := fetch(t, base+"/readyz")
		isLive, _ := fetch(t, base+"/livez")
		return isReady == ready && isLive == http.StatusOK
	}, testenv.Scale(t, bound), 50*time.Millisecond, "livez 200 and readyz %d", ready)
}

// failing lists the checks of /readyz that fail.
func failing(t *testing.T, base string) (names []string) {
	t.Helper()
	_, body := fetch(t, base+"/readyz")
	var health struct {
		Checks map[string]struct {
			OK bool `json:"ok"`
		} `json:"checks"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &health), body)
	require.Len(t, health.Checks, 4, body)
	for name, check := range health.Checks {
		if !check.OK {
			names = append(names, name)
		}
	}
	return names
}

func TestWhatAnOperatorSeesOfAWorker(t *testing.T) {
	in := newInstallation(t)
	w, base := in.startWatched(t)
	requireProbes(t, base, 200)
	got := in.enqueueIn(t, in.dir, "print(6*7)", "run", "-", "-l", "python")
	require.Equal(t, "42\n", got.stdout, got.stderr)
	require.Equal(t, 3, in.enqueueIn(t, in.dir, "exit 3", "run", "-", "-l", "bash").code)

	var metrics string
	require.Eventually(t, func() bool {
		_, metrics = fetch(t, base+"/metrics")
		return strings.Count(metrics, "\nsandloop_jobs_finished_total{") == 2
	}, testenv.Scale(t, bound), 50*time.Millisecond, "%s", &metrics)
	for _, want := range []string{
		`(?m)^sandloop_jobs_finished_total\{language="python",outcome="ok",queue="interactive"\} 1$`,
		`(?m)^sandloop_jobs_finished_total\{language="bash",outcome="nonzero_exit",queue="interactive"\} 1$`,
		`(?m)^sandloop_job_run_seconds_count\{queue="interactive"\} 2$`,
		`(?m)^sandloop_container_start_seconds_count\{start="warm"\} [1-9]`,
		`(?m)^sandloop_containers_taken_total\{source="warm"\} [12]$`,
		`(?m)^sandloop_slots\{kind="shared"\} 4$`,
		`(?m)^sandloop_workers 1$`,
		`(?m)^sandloop_redis_up 1$`,
		`(?m)^sandloop_worker_info\{worker="` + in.workerID(t, w.process.Process.Pid) + `"\} 1$`,
		`(?m)^sandloop_interpreters_limit 4$`,
		`(?m)^process_start_time_seconds `,
	} {
		require.Regexp(t, want, metrics)
	}
	require.Eventually(t, func() bool { // the first sweep is enqueued when the worker starts
		_, metrics = fetch(t, base+"/metrics")
		return strings.Contains(metrics, `sandloop_reaper_sweeps_total{result="ok"} 1`)
	}, testenv.Scale(t, bound), 100*time.Millisecond)

	code, page := fetch(t, base+"/")
	require.Equal(t, 200, code)
	require.Contains(t, page, in.workerID(t, w.process.Process.Pid))
	code, queues := fetch(t, base+"/queues/api/queues")
	require.Equal(t, 200, code)
	require.Contains(t, queues, "sandloop:interactive")
	require.NotContains(t, w.log.String(), adminToken)

	// While it drains the worker is alive and not ready.
	ids := in.submitSlow(t, 1, 6)
	require.NoError(t, w.process.Process.Signal(syscall.SIGTERM))
	requireProbes(t, base, 503)
	require.Equal(t, []string{"worker"}, failing(t, base))
	require.Equal(t, 0, w.requireEnd(t), w.log.String())
	in.requireDone(t, ids)
}

func TestAWorkerWithoutRedisIsAliveAndNotReady(t *testing.T) {
	server := testenv.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	in := newInstallationOn(t, server.Addr)
	_, base := in.startWatched(t)
	requireProbes(t, base, 200)
	server.End(syscall.SIGKILL)
	requireProbes(t, base, 503)
	require.Equal(t, []string{"redis"}, failing(t, base))
	code, metrics := fetch(t, base+"/metrics")
	require.Equal(t, 200, code)
	require.Contains(t, metrics, "\nsandloop_redis_up 0\n")
	require.NotContains(t, metrics, "\nsandloop_queue_jobs")
	require.Regexp(t, `(?m)^sandloop_redis_errors_total\{kind="connection"\} [1-9]`, metrics)
	code, page := fetch(t, base+"/")
	require.Equal(t, 503, code)
	require.Contains(t, page, "Redis does not answer")
	server.Start(t)
	requireProbes(t, base, 200)
	require.Equal(t, "back\n", in.enqueueIn(t, in.dir, "echo back", "run", "-", "-l", "bash").stdout)
}
