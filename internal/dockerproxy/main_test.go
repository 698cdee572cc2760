package dockerproxy_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/dockerproxy"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bound is how long a test waits for what must happen.
const bound = 30 * time.Second

// bundle is a proxy before the real daemon, with an installation of the test's own.
type bundle struct {
	t            testing.TB
	socket       string
	installation string
	image        string
	// daemon goes past the proxy, worker through it, and http is for requests that no client makes.
	daemon, worker *client.Client
	http           *http.Client
}

func setup(t testing.TB, change ...func(*dockerproxy.Options)) *bundle {
	t.Helper()
	b := &bundle{t: t, image: testenv.Image(t), installation: "test-" + rand.Text(), socket: filepath.Join(t.TempDir(), "docker.sock")}
	var err error
	b.daemon, err = client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	options := dockerproxy.Options{
		Docker: b.daemon, Images: []string{b.image}, Maxima: sandbox.DefaultMaxima(), Installation: b.installation, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&options)
	}
	listener, err := dockerproxy.Listen(t.Context(), b.socket)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- dockerproxy.New(options).Serve(ctx, listener) }()
	b.worker, err = client.NewClientWithOpts(client.WithHost("unix://"+b.socket), client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", b.socket)
	}}
	b.http = &http.Client{Transport: transport}
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return len(b.containers()) == 0 }, bound, 20*time.Millisecond, "containers are left")
		require.NoError(t, b.worker.Close())
		transport.CloseIdleConnections()
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, b.daemon.Close())
	})
	return b
}

// containers lists what there is of the test's installation.
func (b *bundle) containers() []container.Summary {
	b.t.Helper()
	list, err := b.daemon.ContainerList(context.Background(), container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", labels.Installation+"="+b.installation)),
	})
	require.NoError(b.t, err)
	return list
}

// say sends a request as it is, and returns the answer.
func (b *bundle) say(method, uri string, body any) (status int, message string) {
	b.t.Helper()
	var content io.Reader = http.NoBody
	switch body := body.(type) {
	case nil:
	case string:
		content = bytes.NewReader([]byte(body))
	default:
		text, err := json.Marshal(body)
		require.NoError(b.t, err)
		content = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), bound)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://docker"+uri, content)
	require.NoError(b.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := b.http.Do(request)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	return response.StatusCode, string(text)
}

// refused wants a request to be answered by the proxy alone.
func (b *bundle) refused(method, uri string, body any, why string) {
	b.t.Helper()
	status, message := b.say(method, uri, body)
	require.Equal(b.t, http.StatusForbidden, status, "%s %s: %s", method, uri, message)
	require.Contains(b.t, message, "docker-proxy refuses")
	require.Contains(b.t, message, why, "%s %s", method, uri)
}
