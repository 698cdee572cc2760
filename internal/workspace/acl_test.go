package workspace

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// Sessions are used by workers and by producers, who list, write and delete them.
func TestSessionsNeedNoMoreOfRedisThanIsPublished(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisWithUsers(t)
	admin := redis.NewClient(&redis.Options{Addr: addr, Username: testenv.RedisAdmin, Password: testenv.RedisPassword(testenv.RedisAdmin)})
	defer func() { require.NoError(t, admin.Close()) }()
	for _, user := range []string{testenv.RedisWorker, testenv.RedisProducer} {
		b := connect(t, redis.NewClient(&redis.Options{Addr: addr, Username: user, Password: testenv.RedisPassword(user)}))
		lease := b.acquire("1")
		require.NoError(t, lease.Commit(b.ctx, Commit{Files: []sandbox.File{file("a", "1")}, Result: []byte("r")}))
		require.NoError(t, lease.Hold(b.ctx, Holder{Worker: "w", Language: "python", Nonce: "n"}))
		_, stop := lease.Keep(b.ctx)
		stop()
		require.NoError(t, lease.renew(b.ctx, lease.fence()))
		require.NoError(t, lease.Release(b.ctx))
		require.NotNil(t, b.acquire("1").Committed)
		held, err := b.Holds(b.ctx, notes, "n")
		require.NoError(t, err)
		require.True(t, held)
		require.NoError(t, b.LetGo(b.ctx, notes, "n", "over"))
		_, err = b.Write(b.ctx, notes, []sandbox.File{file("b", "2")}, nil, bound)
		require.NoError(t, err)
		b.holds(file("a", "1"), file("b", "2"))
		list, err := b.List(b.ctx, notes.Tenant)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.NoError(t, b.Delete(b.ctx, notes))
		require.NoError(t, admin.Del(b.ctx, b.keys.result(notes, "1")).Err())
	}
	log, err := admin.ACLLog(t.Context(), 100).Result()
	require.NoError(t, err)
	require.Empty(t, log)
}
