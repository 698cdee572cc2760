package metrics

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	// go-redis looks once a second whether a pool without connections is closed by now.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// bound is how long a test waits for what must happen.
const bound = 30 * time.Second

// bundle is a Redis of a test's own and the metrics of a worker on it.
type bundle struct {
	*Metrics
	server *testenv.Redis
	rdb    redis.UniversalClient
	client *jobs.Client
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{server: testenv.StartRedis(t)}
	var err error
	b.rdb, err = jobs.ConnectRedis(jobs.RedisOptions{Addr: b.server.Addr})
	require.NoError(t, err)
	b.client = jobs.NewClient(b.rdb, jobs.ClientOptions{})
	t.Cleanup(func() {
		require.NoError(t, b.client.Close())
		require.NoError(t, b.rdb.Close())
	})
	b.Metrics = New(Options{Worker: "worker-1", Languages: []string{"python", "c"}, Stats: b.stats})
	return b
}

func (b *bundle) stats(ctx context.Context) (jobs.Stats, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return b.client.Stats(ctx)
}

// scrape returns the lines of a scrape that start with one of the given words, in order.
func (m *Metrics) scrape(t *testing.T, words ...string) []string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	found := []string{}
	for line := range bytes.Lines(answer.Body.Bytes()) {
		for _, word := range words {
			if strings.HasPrefix(string(line), word) {
				found = append(found, strings.TrimSpace(string(line)))
				break
			}
		}
	}
	return found
}

// tells waits until a scrape has these lines: a result is there a moment before it is counted.
func (m *Metrics) tells(t *testing.T, want []string, words ...string) {
	t.Helper()
	var got []string
	require.Eventually(t, func() bool {
		got = m.scrape(t, words...)
		return slices.Equal(want, got)
	}, testenv.Scale(t, bound), 20*time.Millisecond, "want %q, last %q", want, &got)
}

// run submits a program and waits for its result.
func (b *bundle) run(t *testing.T, queue jobs.Queue, language, source string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, bound))
	defer cancel()
	submitted, err := b.client.Submit(ctx, jobs.Job{Queue: queue, Tenant: "alice", Program: sandbox.Program{Language: language, Source: []byte(source)}})
	require.NoError(t, err)
	_, err = b.client.Await(ctx, submitted.ID)
	require.NoError(t, err)
}
