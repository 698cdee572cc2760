package admin

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// The pages of a worker read with the worker's user.
func TestThePagesNeedNoMoreOfRedisThanIsPublished(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisWithUsers(t)
	as := func(user string) redis.UniversalClient {
		rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: addr, Username: user, Password: testenv.RedisPassword(user)})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, rdb.Close()) })
		return rdb
	}
	client := jobs.NewClient(as(testenv.RedisProducer), jobs.ClientOptions{})
	_, err := client.Submit(t.Context(), jobs.Job{Program: sandbox.Program{Language: "python", Source: sandbox.Bytes("1")}})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	pages := Queues(as(testenv.RedisWorker))
	for _, path := range []string{
		"/queues/api/queues", "/queues/api/queues/sandloop:default", "/queues/api/queues/sandloop:default/pending_tasks", "/queues/api/queues/sandloop:default/active_tasks",
		"/queues/api/queues/sandloop:default/retry_tasks", "/queues/api/servers", "/queues/api/queue_stats",
	} {
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		require.Equal(t, 200, answer.Code, "%s: %s", path, answer.Body)
	}
	log, err := as(testenv.RedisAdmin).(*redis.Client).ACLLog(t.Context(), 100).Result()
	require.NoError(t, err)
	require.Empty(t, log)
}
