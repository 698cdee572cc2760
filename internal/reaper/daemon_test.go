package reaper

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
)

// fakeDaemon answers as Docker does with one orphan, whose removal has the given status.
func fakeDaemon(t *testing.T, removal int) *Reaper {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/info"):
			_, _ = w.Write([]byte(`{"SystemTime":"2030-01-01T00:00:00Z"}`))
		case strings.HasSuffix(path, "/containers/json"):
			_, _ = w.Write([]byte(`[{"Id":"0123456789abcdef","Names":["/x"],"Created":1,"Labels":{"dev.sandloop.installation":"mine",
				"dev.sandloop.role":"sandbox","dev.sandloop.owner":"gone","dev.sandloop.expires":"1999999999"}}]`))
		case strings.HasSuffix(path, "/volumes"):
			_, _ = w.Write([]byte(`{"Volumes":[]}`))
		default:
			w.WriteHeader(removal)
			_, _ = w.Write([]byte(`{"message":"as the test wants it"}`))
		}
	}))
	t.Cleanup(server.Close)
	docker, err := client.NewClientWithOpts(client.WithHost("tcp://"+server.Listener.Addr().String()), client.WithVersion("1.41"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, docker.Close()) })
	r, err := New(docker, Options{Installation: "mine", Alive: onlyLiveOne, Confirm: time.Millisecond, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return r
}

func TestWhatIsGoneAlreadyIsASuccess(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNoContent, http.StatusNotFound, http.StatusConflict} {
		report, err := fakeDaemon(t, status).Sweep(t.Context())
		require.NoError(t, err, status)
		require.Len(t, report.Removed, 1, status)
	}
}

func TestARemovalThatFailsIsAnErrorAndNotReportedAsRemoved(t *testing.T) {
	t.Parallel()
	report, err := fakeDaemon(t, http.StatusInternalServerError).Sweep(t.Context())
	require.ErrorContains(t, err, "remove container 0123456789ab: ")
	require.Equal(t, 1, report.Seen)
	require.Empty(t, report.Removed)
}

func TestADaemonThatIsDownIsAnError(t *testing.T) {
	t.Parallel()
	docker, err := client.NewClientWithOpts(client.WithHost("unix:///nonexistent/docker.sock"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, docker.Close()) })
	r, err := New(docker, Options{Installation: "mine", Alive: onlyLiveOne})
	require.NoError(t, err)
	_, err = r.Sweep(t.Context())
	require.Error(t, err)
}
