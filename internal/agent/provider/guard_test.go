package provider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// get asks a server through a guard.
func get(t *testing.T, silence time.Duration, limit int64, handler http.HandlerFunc) (string, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &guard{next: server.Client().Transport, silence: silence, limit: limit}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	return string(body), err
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestAnAnswerThatIsSilentTooLongEnds(t *testing.T) {
	t.Parallel()
	_, err := get(t, 100*time.Millisecond, 100, hang)
	require.ErrorIs(t, err, errSilent)

	body, err := get(t, 300*time.Millisecond, 100, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		hang(w, r)
	})
	require.ErrorIs(t, err, errSilent)
	require.Equal(t, "half", body)
}

func TestASlowAnswerThatGoesOnIsNotSilent(t *testing.T) {
	t.Parallel()
	const silence = 2 * time.Second
	begin := time.Now()
	body, err := get(t, silence, 100, func(w http.ResponseWriter, _ *http.Request) {
		tick := time.NewTicker(silence / 4)
		defer tick.Stop()
		for range 6 {
			<-tick.C
			_, _ = io.WriteString(w, ".")
			_ = http.NewResponseController(w).Flush()
		}
	})
	require.NoError(t, err)
	require.Equal(t, "......", body)
	require.Greater(t, time.Since(begin), silence, "the answer took longer than any silence may")
}

func TestAnAnswerWithoutEndEnds(t *testing.T) {
	t.Parallel()
	body, err := get(t, time.Minute, 5, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 9)) })
	require.NoError(t, err)
	require.Equal(t, "xxxxx", body)
}

func TestAClientIsCopied(t *testing.T) {
	t.Parallel()
	own := &http.Client{Timeout: time.Hour}
	endpoint, err := NewEndpoint("test", "key", "http://127.0.0.1", own, 0)
	require.NoError(t, err)
	require.Nil(t, own.Transport)
	require.Nil(t, own.CheckRedirect)
	require.Equal(t, time.Hour, endpoint.Client.Timeout)
	require.Equal(t, DefaultSilence, endpoint.Client.Transport.(*guard).silence)
}
