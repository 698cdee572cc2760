package workspace

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

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

// In a cluster a script must not touch keys of two sessions. This goes through each of them.
func TestInACluster(t *testing.T) {
	t.Parallel()
	b := setupCluster(t)
	lease := b.acquire("1")
	_, err := b.Acquire(b.ctx, notes, "worker-2", "2")
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, lease.Hold(b.ctx, Holder{Worker: "w", Language: "python", Nonce: "n"}))
	require.NoError(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "1")}, Result: []byte("r")}))
	require.NoError(t, lease.renew(b.ctx, lease.fence()))
	next := make(chan error, 1)
	go func() {
		lease, err := b.AcquireWait(b.ctx, notes, "worker-2", "2", bound)
		if err == nil {
			err = lease.Release(b.ctx)
		}
		next <- err
	}()
	b.waiting()
	require.NoError(t, lease.Release(b.ctx))
	require.NoError(t, <-next)
	require.Equal(t, "r", string(b.acquire("1").Committed.Result))
	require.NoError(t, b.LetGo(b.ctx, notes, "n", "idle"))
	held, err := b.Holds(b.ctx, notes, "n")
	require.NoError(t, err)
	require.False(t, held)
	for _, name := range []string{"b", "c", "d"} { // most likely in other slots
		_, err = b.Write(b.ctx, Session{Tenant: "alice", Name: name}, []sandbox.File{file(name, "")}, nil, bound)
		require.NoError(t, err)
	}
	b.holds(file("a", "1"))
	list, err := b.List(b.ctx, "alice")
	require.NoError(t, err)
	require.Len(t, list, 4)
	require.Equal(t, "idle", list[3].LiveEnded)
	paused := b.acquire("3")
	require.NoError(t, b.Delete(b.ctx, notes))
	require.ErrorIs(t, paused.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "2")}}), ErrFenced)
	require.NoError(t, paused.Release(b.ctx))
}
