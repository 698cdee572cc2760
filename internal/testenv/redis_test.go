package testenv_test

import (
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

func TestRedisThatIsStartedAgainKnowsWhatItWrote(t *testing.T) {
	t.Parallel()
	server := testenv.StartRedis(t, "--appendonly", "yes")
	client := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1})
	defer func() { require.NoError(t, client.Close()) }()
	require.NoError(t, client.Set(t.Context(), "key", "value", 0).Err())
	server.End(syscall.SIGTERM)
	require.Error(t, client.Ping(t.Context()).Err())
	server.Start(t)
	require.Equal(t, "value", client.Get(t.Context(), "key").Val())
}
