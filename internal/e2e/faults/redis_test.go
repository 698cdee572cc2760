package faults_test

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
)

func connect(t *testing.T, server *faults.Redis) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestRedisKeepsEverythingOverAKill(t *testing.T) {
	t.Parallel()
	server := faults.StartRedis(t)
	client := connect(t, server)
	require.NoError(t, client.Set(t.Context(), "key", "value", 0).Err())
	require.NoError(t, server.End(syscall.SIGKILL))
	require.NoError(t, server.Start())
	require.Equal(t, "value", client.Get(t.Context(), "key").Val())
}

// One key is written every 10 ms. Those of the last second are gone, and no other ones.
func TestRedisLosesItsLastSecondAlone(t *testing.T) {
	t.Parallel()
	server := faults.StartRedis(t)
	client := connect(t, server)
	written := map[string]time.Time{}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range 250 {
		<-tick.C
		key := strconv.Itoa(i)
		require.NoError(t, client.Set(t.Context(), key, "value", 0).Err())
		written[key] = time.Now()
	}
	cut := time.Now().Add(-time.Second)
	require.NoError(t, server.EndLosing(time.Second))
	require.NoError(t, server.Start())
	kept, lost := 0, 0
	for key, at := range written {
		exists := client.Exists(t.Context(), key).Val() == 1
		switch {
		case exists:
			kept++
			require.False(t, at.After(cut.Add(500*time.Millisecond)), "a key of the last second is there")
		default:
			lost++
			require.False(t, at.Before(cut.Add(-time.Second)), "an older key is gone")
		}
	}
	require.NotZero(t, kept)
	require.NotZero(t, lost)
}

func TestFullRedisRefusesWritesAlone(t *testing.T) {
	t.Parallel()
	server := faults.StartRedis(t)
	client := connect(t, server)
	require.NoError(t, client.Set(t.Context(), "key", "value", 0).Err())
	require.NoError(t, server.Fill())
	require.ErrorContains(t, client.Set(t.Context(), "key", "other", 0).Err(), "OOM")
	require.Equal(t, "value", client.Get(t.Context(), "key").Val())
	require.NoError(t, server.Empty())
	require.NoError(t, client.Set(t.Context(), "key", "other", 0).Err())
}

// Back and forth; the clock with which the server measures how long it is up goes on.
func TestRedisClockCanBeStepped(t *testing.T) {
	t.Parallel()
	server := faults.StartRedis(t)
	client := connect(t, server)
	for _, step := range []time.Duration{0, time.Hour, -time.Hour, 0} {
		require.NoError(t, server.StepClock(step))
		now, err := client.Time(t.Context()).Result()
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(step), now, time.Minute)
	}
	require.NoError(t, client.Set(t.Context(), "key", "value", 30*time.Minute).Err())
	require.NoError(t, server.StepClock(time.Hour))
	require.Zero(t, client.Exists(t.Context(), "key").Val(), "it is over half an hour later")
}
