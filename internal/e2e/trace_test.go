package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/tracing/otlptest"
)

func TestARunIsOneTraceFromTheCommandLineToTheContainer(t *testing.T) {
	in := newInstallation(t)
	receiver := otlptest.Start(t)
	headers := in.file(t, "headers", "Authorization: Bearer hunter2\n")
	in.env = append(in.env, "SANDLOOP_TRACING_ENDPOINT="+receiver.URL, "SANDLOOP_TRACING_HEADERS_FILE="+headers, "OTEL_BSP_SCHEDULE_DELAY=50")
	w := in.startWorker(t, "SANDLOOP_SANDBOX_POOL_SIZE=0")
	program := in.file(t, "hunter2.c", "#include <stdio.h>\nint main(void) { puts(\"hunter2 out\"); return 3; }\n")
	stdin := in.file(t, "hunter2.txt", "hunter2")
	got := in.enqueue(t, "run", program, "--stdin", stdin, "--env", "TOKEN=hunter2", "--", "hunter2")
	require.Equal(t, 3, got.code, got.stderr)
	require.Equal(t, "hunter2 out\n", got.stdout)
	require.Empty(t, got.stderr)

	root := receiver.One(t, "enqueue run", bound)
	chain := map[string]string{ // each span and the one above
		"submit": "enqueue run", "job": "submit", "container.obtain": "job", "container.start": "container.obtain",
		"compile": "job", "run": "job", "finish": "job",
	}
	found := map[string]otlptest.Span{"enqueue run": root}
	for name := range chain {
		found[name] = receiver.One(t, name, bound)
	}
	for name, above := range chain {
		require.Equal(t, found[above].ID, found[name].Parent, "%s is below %s", name, above)
		require.Equal(t, root.Trace, found[name].Trace, name)
		require.False(t, found[name].Failed, name)
	}
	require.Empty(t, root.Parent)
	require.Equal(t, "sandloop-enqueue", found["submit"].Service)
	require.Equal(t, "sandloop-worker", found["job"].Service)
	require.Equal(t, "sandloop-worker", found["run"].Service)
	require.Equal(t, "producer", found["submit"].Kind)
	require.Equal(t, "consumer", found["job"].Kind)
	job := found["job"].Attributes
	require.Equal(t, "nonzero_exit", job["sandloop.outcome"])
	require.Equal(t, "3", job["process.exit.code"])
	require.Equal(t, "interactive", job["messaging.destination.name"])
	require.Equal(t, found["submit"].Attributes["sandloop.job.id"], job["sandloop.job.id"])
	require.Equal(t, "cold", found["container.obtain"].Attributes["sandloop.container"])
	// The worker's own span may end a little after the result was told.
	require.False(t, root.End.Before(found["run"].End), "the command waits for the job")

	require.Equal(t, 0, w.stop(t))
	require.NotContains(t, receiver.Raw(), "hunter2", "whatever else there is in the spans")
	for _, request := range receiver.Headers() {
		require.Equal(t, "Bearer hunter2", request.Get("Authorization"))
	}
	require.NotContains(t, w.log.String(), "hunter2")
	require.Contains(t, w.log.String(), receiver.URL, "the configuration is logged")
}

func TestWhatIsNotSampledSendsNothing(t *testing.T) {
	in := newInstallation(t)
	receiver := otlptest.Start(t)
	in.env = append(in.env, "SANDLOOP_TRACING_ENDPOINT="+receiver.URL, "SANDLOOP_TRACING_SAMPLE=0")
	w := in.startWorker(t, "SANDLOOP_TRACING_SAMPLE=1") // which follows the producer
	got := in.enqueue(t, "run", in.file(t, "hello.py", "print('hello')"))
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, 0, w.stop(t))
	require.Empty(t, receiver.Headers())
}

func TestJobsGoOnWhateverTheReceiverDoes(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	stuck := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
	t.Cleanup(func() { close(stuck); silent.Close() })
	for name, url := range map[string]string{"gone": gone.URL, "silent": silent.URL} {
		t.Run(name, func(t *testing.T) {
			in := newInstallation(t)
			in.env = append(in.env, "SANDLOOP_TRACING_ENDPOINT="+url, "OTEL_BSP_SCHEDULE_DELAY=50")
			w := in.startWorker(t)
			hello := in.file(t, "hello.py", "print('hello')")
			for range 5 {
				got := in.enqueue(t, "run", hello)
				require.Equal(t, 0, got.code, got.stderr)
				require.Equal(t, "hello\n", got.stdout)
				t.Logf("took %s", got.took.Round(10*time.Millisecond))
			}
			require.Equal(t, 0, w.stop(t))
		})
	}
}

// stop asks a worker to end and returns its exit code.
func (w *worker) stop(t testing.TB) int {
	t.Helper()
	require.NoError(t, w.process.Process.Signal(syscall.SIGTERM))
	return w.requireEnd(t)
}
