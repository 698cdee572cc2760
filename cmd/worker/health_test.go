package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealthAsksTheWorkerOfThisMachine(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/livez":
			_, _ = w.Write([]byte("alive\n"))
		case "/readyz":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("draining\n"))
		}
	}))
	t.Cleanup(server.Close)
	configuration := "admin: {addr: \"" + server.Listener.Addr().String() + "\"}\n"

	code, stdout, said := runNow(t, configuration, "health")
	require.Equal(t, 0, code, said)
	require.Equal(t, "alive\n", stdout)

	code, stdout, said = runNow(t, configuration, "health", "--ready")
	require.Equal(t, exitFailed, code)
	require.Equal(t, "draining\n", stdout)
	require.Contains(t, said, "503")

	server.Close()
	code, _, said = runNow(t, configuration, "health")
	require.Equal(t, exitFailed, code)
	require.Contains(t, said, "no worker answers")
}

func TestHealthNamesTheSettingThatItNeeds(t *testing.T) {
	t.Parallel()
	for configuration, want := range map[string]string{
		"log: {level: info}\n":    "admin.addr: is not set",
		"admin: {addr: \":0\"}\n": "admin.addr: :0 is any free port",
	} {
		code, _, said := runNow(t, configuration, "health")
		require.Equal(t, exitFailed, code)
		require.Contains(t, said, want)
	}
}

func TestHealthGoesToLoopbackWhereTheWorkerListensEverywhere(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		":9390":          "http://127.0.0.1:9390/livez",
		"0.0.0.0:9390":   "http://127.0.0.1:9390/livez",
		"[::]:9390":      "http://[::1]:9390/livez",
		"127.0.0.1:9390": "http://127.0.0.1:9390/livez",
		"10.1.2.3:80":    "http://10.1.2.3:80/livez",
		"worker:9390":    "http://worker:9390/livez",
	} {
		got, err := healthURL(addr, "/livez")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
