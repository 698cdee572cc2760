package admin

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestLivezTellsWhichLoopIsStuck(t *testing.T) {
	t.Parallel()
	var stuck atomic.Bool
	s := start(t, func(o *Options) {
		o.Live = func() error {
			if stuck.Load() {
				return errors.New("the heartbeat has been stuck for 31s")
			}
			return nil
		}
	})
	got := s.get(t, "/livez")
	require.Equal(t, 200, got.code)
	require.JSONEq(t, `{"ok":true,"checks":{"loops":{"ok":true}}}`, got.body)
	stuck.Store(true)
	got = s.get(t, "/livez")
	require.Equal(t, 503, got.code)
	require.JSONEq(t, `{"ok":false,"checks":{"loops":{"ok":false,"error":"the heartbeat has been stuck for 31s"}}}`, got.body)
}

func TestReadyzNamesEachCheck(t *testing.T) {
	t.Parallel()
	var log logged
	s := start(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Checks = []Check{
			{"worker", func(context.Context) error { return Reason("stops: it takes no more jobs") }},
			{"redis", func(context.Context) error { return errors.New("dial tcp 10.0.0.7:6379: connection refused") }},
			{"docker", func(context.Context) error { return nil }},
		}
	})
	got := s.get(t, "/readyz")
	require.Equal(t, 503, got.code)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.JSONEq(t, `{"ok":false,"checks":{
		"worker":{"ok":false,"error":"stops: it takes no more jobs"},
		"redis":{"ok":false,"error":"does not answer as it should; the worker's log says more"},
		"docker":{"ok":true}}}`, got.body)
	require.NotContains(t, got.body, "10.0.0.7", "anybody can read this")
	s.get(t, "/readyz")
	require.Equal(t, 1, strings.Count(log.String(), "10.0.0.7"), "the log has it, once")
}

// A Redis that goes away and comes back, as a probe sees it.
func TestReadyzFollowsRedis(t *testing.T) {
	t.Parallel()
	server, rdb := startRedis(t)
	s := start(t, func(o *Options) {
		o.Checks = []Check{{"redis", func(ctx context.Context) error { return rdb.Ping(ctx).Err() }}}
	})
	is := func(code int) func() bool {
		return func() bool { return s.get(t, "/readyz").code == code && s.get(t, "/livez").code == 200 }
	}
	require.True(t, is(200)())
	server.End(syscall.SIGKILL)
	require.Eventually(t, is(503), testenv.Scale(t, bound), 20*time.Millisecond)
	server.Start(t)
	require.Eventually(t, is(200), testenv.Scale(t, bound), 20*time.Millisecond)
}

// A Redis that is frozen takes connections and never answers.
func TestAProbeDoesNotHangWithWhatItAsks(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *Options) {
		o.Checks = []Check{{"docker", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}}
	})
	began := time.Now()
	require.Equal(t, 503, s.get(t, "/readyz").code)
	require.GreaterOrEqual(t, time.Since(began), patience)
}

func TestProbesAskOnceASecond(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := start(t, func(o *Options) {
		o.Checks = []Check{{"redis", func(context.Context) error { asked.Add(1); return nil }}}
	})
	began, answers := time.Now(), 0
	for time.Since(began) < 1500*time.Millisecond {
		require.Equal(t, 200, s.get(t, "/readyz").code)
		answers++
	}
	most := int64(time.Since(began)/fresh) + 1
	require.LessOrEqual(t, asked.Load(), most, "for %d answers", answers)
}

func TestRecentRemembersErrorsAndForgetsThem(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	recent := NewRecent(func(ctx context.Context) (int64, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			return 0, errors.New("a question without end")
		}
		if n := asked.Add(1); n > 1 {
			return n, nil
		}
		return 0, errors.New("not now")
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := recent.Get(gone)
	require.EqualError(t, err, "not now", "who does not wait any more asks for the others all the same")
	require.Eventually(t, func() bool {
		n, err := recent.Get(t.Context())
		return err == nil && n == 2
	}, testenv.Scale(t, bound), 10*time.Millisecond)
}
