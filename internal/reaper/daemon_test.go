package reaper

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// fakeDaemon answers as Docker does with one orphan. The tries to remove it have the given statuses, the
// last of them for ever.
func fakeDaemon(t *testing.T, name string, removals ...int) *Reaper {
	t.Helper()
	r, _ := fakeDaemonWith(t, name, "exited", nil, removals...)
	return r
}

// fakeDaemonWith lists the orphan in a state, and counts the tries to remove it.
func fakeDaemonWith(t *testing.T, name, state string, inspect http.HandlerFunc, removals ...int) (*Reaper, *atomic.Int32) {
	t.Helper()
	var tries atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/info"):
			_, _ = w.Write([]byte(`{"SystemTime":"2030-01-01T00:00:00Z"}`))
		case strings.HasSuffix(path, "/containers/json"):
			_, _ = w.Write([]byte(`[{"Id":"0123456789abcdef","Names":["` + name + `"],"Created":1,"State":"` + state + `","Labels":{
				"dev.sandloop.installation":"mine","dev.sandloop.role":"sandbox","dev.sandloop.owner":"gone","dev.sandloop.expires":"1999999999"}}]`))
		case strings.HasSuffix(path, "/volumes"):
			_, _ = w.Write([]byte(`{"Volumes":[]}`))
		case strings.HasSuffix(path, "/networks"):
			_, _ = w.Write([]byte(`[]`))
		case r.Method == http.MethodGet:
			inspect(w, r)
		default:
			w.WriteHeader(removals[min(int(tries.Add(1)), len(removals))-1])
			_, _ = w.Write([]byte(`{"message":"as the test wants it"}`))
		}
	}))
	t.Cleanup(server.Close)
	docker, err := client.NewClientWithOpts(client.WithHost("tcp://"+server.Listener.Addr().String()), client.WithVersion("1.41"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, docker.Close()) })
	r, err := New(docker, Options{Installation: "mine", Alive: onlyLiveOne, Confirm: time.Millisecond, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return r, &tries
}

func TestWhatIsListedAsBeingRemovedIsLookedAt(t *testing.T) {
	t.Parallel()
	saying := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, test := range map[string]struct {
		inspect       http.HandlerFunc
		seen, removed int
		err           string
	}{
		"gone":                     {saying(http.StatusNotFound, `{"message":"No such container"}`), 0, 0, ""},
		"on its way":               {saying(http.StatusOK, `{"State":{"Status":"removing"}}`), 1, 0, ""},
		"stopped half-way":         {saying(http.StatusOK, `{"State":{"Status":"dead"}}`), 1, 1, ""},
		"in a state nobody tells":  {saying(http.StatusOK, `{}`), 1, 0, ""},
		"not to be had for a look": {saying(http.StatusInternalServerError, `{"message":"busy"}`), 1, 0, "inspect container 0123456789ab: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, tries := fakeDaemonWith(t, "/x", "removing", test.inspect, http.StatusNoContent)
			report, err := r.Sweep(t.Context())
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.err)
			}
			require.Equal(t, test.seen, report.Seen)
			require.Len(t, report.Removed, test.removed)
			require.EqualValues(t, test.removed, tries.Load())
		})
	}
}

func TestARemovalGoesOnUntilTheContainerIsGone(t *testing.T) {
	t.Parallel()
	for name, statuses := range map[string][]int{
		"at once":                    {http.StatusNoContent},
		"gone already":               {http.StatusNotFound},
		"another is at it":           {http.StatusConflict, http.StatusConflict, http.StatusConflict, http.StatusConflict, http.StatusNotFound},
		"the other failed half-way":  {http.StatusConflict, http.StatusNoContent},
		"a failure that passes":      {http.StatusInternalServerError, http.StatusNoContent},
		"two failures and a success": {http.StatusInternalServerError, http.StatusInternalServerError, http.StatusNoContent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := fakeDaemon(t, "/x", statuses...).Sweep(t.Context())
			require.NoError(t, err)
			require.Len(t, report.Removed, 1)
			require.Equal(t, "x", report.Removed[0].Name)
		})
	}
}

func TestARemovalThatFailsIsAnErrorAndNotReportedAsRemoved(t *testing.T) {
	t.Parallel()
	report, err := fakeDaemon(t, "/x", http.StatusInternalServerError).Sweep(t.Context())
	require.ErrorContains(t, err, "remove container 0123456789ab: ")
	require.Equal(t, 1, report.Seen)
	require.Empty(t, report.Removed)
}

func TestAConflictThatDoesNotEndIsNoSuccess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, 3*time.Second))
	defer cancel()
	report, err := fakeDaemon(t, "/x", http.StatusConflict).Sweep(ctx)
	require.ErrorContains(t, err, "remove container 0123456789ab: ")
	require.Empty(t, report.Removed)
}

// A container whose removal stopped half-way has lost its name.
func TestAContainerWithoutANameIsRemovedAsOthers(t *testing.T) {
	t.Parallel()
	report, err := fakeDaemon(t, "", http.StatusNoContent).Sweep(t.Context())
	require.NoError(t, err)
	require.Len(t, report.Removed, 1)
	require.Empty(t, report.Removed[0].Name)
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
