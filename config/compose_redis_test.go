package config

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

func TestTheComposeFilesRedisStartsAndWantsThePasswordWhateverIsInIt(t *testing.T) {
	t.Parallel()
	testenv.RedisServer(t) // says what to do where there is none
	const password = `two words "quoted" #and\more $HOME 'too'`
	port := freePort(t)
	command := compose(t).Services["redis"].Command
	command = append(command, "--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir())
	var log bytes.Buffer
	server := exec.CommandContext(t.Context(), command[0], command[1:]...)
	server.Env = append(os.Environ(), "REDIS_PASSWORD="+password)
	server.Stdout, server.Stderr = &log, &log
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill() // the shell has replaced itself with Redis
		_ = server.Wait()
	})
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Password: password, MaxRetries: -1})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil },
		testenv.Scale(t, 20*time.Second), 20*time.Millisecond, "no answer: %s", &log)
	for key, want := range map[string]string{"appendonly": "yes", "maxmemory-policy": "noeviction"} {
		require.Equal(t, want, client.ConfigGet(t.Context(), key).Val()[key])
	}
	for _, wrong := range []string{"", "two words"} {
		stranger := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Password: wrong, MaxRetries: -1})
		require.Error(t, stranger.Ping(t.Context()).Err())
		require.NoError(t, stranger.Close())
	}
}
