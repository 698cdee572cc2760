package admin

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

func TestPagesWantTheToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/", "/queues/", "/queues/api/queues"} {
		for name, c := range map[string]struct {
			change func(*http.Request)
			code   int
		}{
			"nothing":              {func(*http.Request) {}, 401},
			"another password":     {password("admin", "correct-horse-batterx"), 401},
			"its beginning":        {password("admin", "correct-horse"), 401},
			"more than it":         {password("admin", secret+"x"), 401},
			"no password":          {password("admin", ""), 401},
			"the token as a user":  {password(secret, ""), 401},
			"another bearer token": {header("Authorization", "Bearer x"), 401},
			"the token alone":      {header("Authorization", secret), 401},
			"another scheme":       {header("Authorization", "Digest "+secret), 401},
			"half a header":        {header("Authorization", "Basic"), 401},
			"the password":         {password("admin", secret), 200},
			"whoever has it":       {password("", secret), 200},
			"the bearer token":     {header("Authorization", "Bearer "+secret), 200},
			"in small letters":     {header("Authorization", "bearer "+secret), 200},
		} {
			got := s.get(t, path, c.change)
			require.Equal(t, c.code, got.code, "%s with %s", path, name)
			require.NotContains(t, got.body, secret)
			if c.code == 401 {
				require.Equal(t, `Basic realm="sandloop", charset="UTF-8"`, got.header.Get("WWW-Authenticate"))
				require.NotContains(t, got.body, "fine")
			}
		}
	}
}

func TestWithoutATokenThereAreNoPages(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) { o.Token = "" })
	for _, path := range []string{"/", "/queues/"} {
		for _, change := range []func(*http.Request){func(*http.Request) {}, password("", ""), header("Authorization", "Bearer ")} {
			got := s.get(t, path, change)
			require.Equal(t, 403, got.code)
			require.Contains(t, got.body, "admin.token")
		}
	}
	require.Equal(t, 200, s.get(t, "/metrics").code)
}

func TestMetricsAreOpenUnlessProtected(t *testing.T) {
	t.Parallel()
	require.Equal(t, "fine", start(t).get(t, "/metrics").body)
	s := start(t, func(o *Options) { o.ProtectMetrics = true })
	require.Equal(t, 401, s.get(t, "/metrics").code)
	require.Equal(t, "fine", s.get(t, "/metrics", header("Authorization", "Bearer "+secret)).body)
	require.Equal(t, 200, s.get(t, "/livez").code, "probes are open all the same")
	require.Equal(t, 200, s.get(t, "/readyz").code)
}

func TestNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/", "/livez", "/readyz", "/metrics", "/queues/", "/queues/api/queues/sandloop:default:pause"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
			require.Equal(t, http.StatusMethodNotAllowed, s.do(t, method, path, password("", secret)).code, "%s %s", method, path)
		}
		require.Equal(t, 200, s.do(t, http.MethodHead, path, password("", secret)).code, path)
	}
	require.Equal(t, 404, s.get(t, "/debug/pprof/", password("", secret)).code)
	require.Equal(t, 404, s.get(t, "/livez/x").code)
}

func TestEveryAnswerIsCareful(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/", "/livez", "/readyz", "/metrics", "/queues/", "/absent"} {
		got := s.get(t, path)
		require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.Contains(t, got.header.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-store", got.header.Get("Cache-Control"), path)
	}
}

func TestHeadersHaveABound(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, s.get(t, "/livez", header("X-Large", strings.Repeat("x", 64<<10))).code)
}

// Answers under way get a moment; then they end with the server.
func TestClosingDoesNotWaitForALateAnswer(t *testing.T) {
	t.Parallel()
	asked, ended, failed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	options := allFine()
	options.Metrics = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(ended)
	})
	s := Start(listener, options)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+"/metrics", http.NoBody)
	require.NoError(t, err)
	go func() {
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		failed <- err
	}()
	<-asked
	require.NoError(t, s.Close(t.Context()))
	<-ended
	require.Error(t, <-failed)
}

func TestAListenerThatBreaksIsTold(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	s := Start(listener, allFine())
	require.Eventually(t, func() bool { return len(s.ended) == 1 }, testenv.Scale(t, bound), time.Millisecond)
	err = s.Close(t.Context())
	require.ErrorContains(t, err, "serve operators: ")
	require.ErrorIs(t, err, net.ErrClosed)
}
