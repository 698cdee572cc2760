package admin

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	// go-redis looks once a second whether a pool without connections is closed by now.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

const secret = "correct-horse-battery"

// bound is how long a test waits for what must happen.
const bound = 30 * time.Second

// site is a server of a test's own.
type site struct {
	*Server
	base string
}

// allFine are options with which everything answers, and all is well.
func allFine() Options {
	fine := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") })
	return Options{
		Token: secret, Live: func() error { return nil }, Metrics: fine, Queues: fine,
		Overview: func(context.Context) (Overview, error) { return Overview{}, nil }, Log: slog.New(slog.DiscardHandler),
	}
}

// start serves until the test is over.
func start(t *testing.T, change ...func(*Options)) *site {
	t.Helper()
	options := allFine()
	for _, c := range change {
		c(&options)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &site{Start(listener, options), "http://" + listener.Addr().String()}
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	return s
}

// reply is what a request got.
type reply struct {
	code   int
	body   string
	header http.Header
}

func (s *site) do(t *testing.T, method, path string, change ...func(*http.Request)) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.base+path, http.NoBody)
	require.NoError(t, err)
	for _, c := range change {
		c(request)
	}
	client := &http.Client{
		Timeout: testenv.Scale(t, bound), Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return reply{response.StatusCode, string(body), response.Header}
}

func (s *site) get(t *testing.T, path string, change ...func(*http.Request)) reply {
	t.Helper()
	return s.do(t, http.MethodGet, path, change...)
}

func password(user, password string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(user, password) }
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// startRedis starts a Redis and a client of it.
func startRedis(t *testing.T) (*testenv.Redis, redis.UniversalClient) {
	t.Helper()
	server := testenv.StartRedis(t)
	rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: server.Addr})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	return server, rdb
}
