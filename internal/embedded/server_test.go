package embedded

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 15 * time.Second

func setup(t *testing.T) (*Server, *redis.Client) {
	t.Helper()
	server, err := Start(t.Context(), "127.0.0.1:0", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(server.Close)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return server, client
}

func TestKeysExpireByThemselves(t *testing.T) {
	t.Parallel()
	_, client := setup(t)
	require.NoError(t, client.Set(t.Context(), "short", "x", 300*time.Millisecond).Err())
	require.NoError(t, client.Set(t.Context(), "long", "x", time.Hour).Err())
	require.Eventually(t, func() bool {
		return client.Exists(t.Context(), "short").Val() == 0
	}, patience, 20*time.Millisecond)
	require.EqualValues(t, 1, client.Exists(t.Context(), "long").Val())
	left := client.TTL(t.Context(), "long").Val()
	require.Greater(t, left, time.Hour-patience)
	require.Less(t, left, time.Hour)
}

func TestAsynqRunsATaskAndKeepsItForItsRetention(t *testing.T) {
	t.Parallel()
	server, _ := setup(t)
	opt := asynq.RedisClientOpt{Addr: server.Addr()}
	ran := make(chan string, 1)
	worker := asynq.NewServer(opt, asynq.Config{
		Concurrency: 1, LogLevel: asynq.FatalLevel, TaskCheckInterval: 20 * time.Millisecond, JanitorInterval: 50 * time.Millisecond,
	})
	require.NoError(t, worker.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		ran <- string(task.Payload())
		return nil
	})))
	t.Cleanup(worker.Shutdown)
	client := asynq.NewClient(opt)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	inspector := asynq.NewInspector(opt)
	t.Cleanup(func() { require.NoError(t, inspector.Close()) })

	info, err := client.Enqueue(asynq.NewTask("job", []byte("hello")), asynq.Retention(2*time.Second))
	require.NoError(t, err)
	select {
	case payload := <-ran:
		require.Equal(t, "hello", payload)
	case <-time.After(patience):
		require.Fail(t, "the task did not run")
	}
	require.Eventually(t, func() bool {
		kept, err := inspector.GetTaskInfo("default", info.ID)
		return err == nil && kept.State == asynq.TaskStateCompleted
	}, patience, 20*time.Millisecond)
	require.Eventually(t, func() bool {
		_, err := inspector.GetTaskInfo("default", info.ID)
		return err != nil
	}, patience, 20*time.Millisecond, "kept past its retention")
}

func TestAPortInUseIsNamedWithTheWayOut(t *testing.T) {
	t.Parallel()
	server, _ := setup(t)
	_, err := Start(t.Context(), server.Addr(), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, server.Addr()+" is in use")
	require.ErrorContains(t, err, "--redis "+server.Addr())
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "redis.example:0", "127.0.0.1"} {
		_, err := Start(t.Context(), addr, slog.New(slog.DiscardHandler))
		require.Error(t, err, addr)
	}
}

func TestItSaysThatNothingSurvives(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server, err := Start(t.Context(), "127.0.0.1:0", slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	server.Close()
	require.Contains(t, log.String(), "level=WARN")
}

func TestTheEndOfTheContextFreesThePort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server, err := Start(ctx, "127.0.0.1:0", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	cancel()
	server.clock.Wait()
	_, err = (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", server.Addr())
	require.Error(t, err)
	server.Close()
}
