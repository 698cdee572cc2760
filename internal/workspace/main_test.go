package workspace

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silence{}) // what it says comes as an error, too
	goleak.VerifyTestMain(m)
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// bound is how long a test waits for what must happen.
const bound = 30 * time.Second

// notes is the session that most tests use.
var notes = Session{Tenant: "alice", Name: "notes"}

// bundle is a Redis of a test's own and a store on it.
type bundle struct {
	*Store
	t   *testing.T
	ctx context.Context
	rdb redis.UniversalClient
}

func setup(t *testing.T, options ...func(*Options)) *bundle {
	t.Helper()
	return connect(t, redis.NewClient(&redis.Options{Addr: testenv.RedisServer(t)}), options...)
}

// setupMini starts a Redis within the process, whose clock stands still for expiries.
func setupMini(t *testing.T) *bundle {
	t.Helper()
	return connect(t, redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()}))
}

func connect(t *testing.T, rdb redis.UniversalClient, options ...func(*Options)) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(func() {
		require.NoError(t, rdb.Close())
		cancel()
	})
	var o Options
	for _, change := range options {
		change(&o)
	}
	return &bundle{Store: New(rdb, o), t: t, ctx: ctx, rdb: rdb}
}

// both runs a test on either kind of Redis.
func both(t *testing.T, test func(*testing.T, *bundle)) {
	t.Parallel()
	t.Run("redis-server", func(t *testing.T) { t.Parallel(); test(t, setup(t)) })
	t.Run("embedded", func(t *testing.T) { t.Parallel(); test(t, setupMini(t)) })
}

func file(path, content string) sandbox.File {
	return sandbox.File{Path: path, Data: sandbox.Bytes(content)}
}

// acquire takes the session for a job and gives it back at the end of the test at the latest.
func (b *bundle) acquire(job string) *Lease {
	b.t.Helper()
	lease, err := b.Acquire(b.ctx, notes, "worker-"+job, job)
	require.NoError(b.t, err)
	return lease
}

func (b *bundle) commit(lease *Lease, files ...sandbox.File) {
	b.t.Helper()
	require.NoError(b.t, lease.Commit(b.ctx, Commit{Files: files}))
}

// holds requires the session to have these files and no others, as a client sees them.
func (b *bundle) holds(files ...sandbox.File) {
	b.t.Helper()
	got, err := b.Files(b.ctx, notes)
	require.NoError(b.t, err)
	require.Equal(b.t, files, got)
}

// runOut lets the lease of the session end as if nobody had renewed it in time.
func (b *bundle) runOut() {
	b.t.Helper()
	require.NoError(b.t, b.rdb.Del(b.ctx, b.keys.lease(notes)).Err())
}

// waiting returns once somebody waits for the session.
func (b *bundle) waiting() {
	b.t.Helper()
	channel := b.keys.freeChannel(notes)
	require.Eventually(b.t, func() bool { return b.rdb.PubSubNumSub(b.ctx, channel).Val()[channel] > 0 }, bound, time.Millisecond)
}

// outage is a Redis that a test can end and start again, with what it held, and a client that says when it could not reach it.
type outage struct {
	*testenv.Redis
	missed atomic.Bool
}

func setupServer(t *testing.T) (*bundle, *outage) {
	t.Helper()
	o := &outage{Redis: testenv.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")}
	rdb := redis.NewClient(&redis.Options{Addr: o.Addr, MaxRetries: -1})
	rdb.AddHook(o)
	return connect(t, rdb), o
}

func (o *outage) away(testing.TB)   { o.End(syscall.SIGTERM) }
func (o *outage) back(t testing.TB) { o.Start(t) }
func (o *outage) failed() bool      { return o.missed.Load() }

// DialHook notes a failure.
func (o *outage) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			o.missed.Store(true)
		}
		return conn, err
	}
}

// ProcessHook and ProcessPipelineHook change nothing.
func (o *outage) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook changes nothing.
func (o *outage) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
