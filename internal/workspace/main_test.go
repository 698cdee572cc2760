package workspace

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

// setupCluster starts a cluster of one server, which refuses commands on keys of several
// slots as a larger one does.
func setupCluster(t *testing.T) *bundle {
	t.Helper()
	addr := testenv.RedisServer(t, "--cluster-enabled", "yes")
	single := redis.NewClient(&redis.Options{Addr: addr})
	defer func() { require.NoError(t, single.Close()) }()
	require.NoError(t, single.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err())
	require.Eventually(t, func() bool {
		return single.Set(t.Context(), "probe", 1, 0).Err() == nil
	}, bound, 5*time.Millisecond, "cluster is up")
	return connect(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}}))
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

// everywhere runs a test on each kind of Redis.
func everywhere(t *testing.T, test func(*testing.T, *bundle)) {
	t.Parallel()
	t.Run("redis-server", func(t *testing.T) { t.Parallel(); test(t, setup(t)) })
	t.Run("cluster", func(t *testing.T) { t.Parallel(); test(t, setupCluster(t)) })
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
