package testenv_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// secrets runs the script that operators make their secrets with.
func secrets(t *testing.T, folder string) {
	t.Helper()
	_, err := os.ReadFile("../../scripts/secrets.sh") // so that a result in Go's cache does not outlive a change of it
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "../../scripts/secrets.sh", folder).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestRedisLetsInTheUsersThatTheScriptMadeAndNobodyElse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	secrets(t, folder)
	server := testenv.StartRedis(t, "--aclfile", filepath.Join(folder, "users.acl"))
	ping := func(user, password string) error {
		client := redis.NewClient(&redis.Options{Addr: server.Addr, Username: user, Password: password, MaxRetries: -1})
		defer func() { require.NoError(t, client.Close()) }()
		return client.Ping(t.Context()).Err()
	}
	passwords := map[string]string{}
	for user, file := range map[string]string{testenv.RedisWorker: "worker-password", testenv.RedisProducer: "producer-password"} {
		content, err := os.ReadFile(filepath.Join(folder, file))
		require.NoError(t, err)
		passwords[user] = strings.TrimSuffix(string(content), "\n") // the first line, as config reads it
		require.NoError(t, ping(user, passwords[user]), user)
	}
	require.ErrorContains(t, ping("", ""), "NOAUTH")
	require.ErrorContains(t, ping("", passwords[testenv.RedisWorker]), "WRONGPASS")
	require.ErrorContains(t, ping("default", passwords[testenv.RedisWorker]), "WRONGPASS")
	require.ErrorContains(t, ping(testenv.RedisWorker, passwords[testenv.RedisProducer]), "WRONGPASS")

	// A second line is let in, too, so that a password is replaced without a gap.
	const next = "the password that is to be"
	file := filepath.Join(folder, "worker-password")
	require.NoError(t, os.WriteFile(file, []byte(next+"\n"+passwords[testenv.RedisWorker]+"\n"), 0o600))
	require.ErrorContains(t, ping(testenv.RedisWorker, next), "WRONGPASS")
	secrets(t, folder)
	server.End(syscall.SIGTERM)
	server.Start(t)
	require.NoError(t, ping(testenv.RedisWorker, next))
	require.NoError(t, ping(testenv.RedisWorker, passwords[testenv.RedisWorker]))
}

// startProbe is how the files of deploy/ ask a Redis whether it is up and has read what it wrote.
func startProbe(t *testing.T) (probe string) {
	t.Helper()
	for _, file := range []string{"kubernetes/redis.yaml", "swarm/stack.yml", "compose/hardened.yml"} {
		content, err := os.ReadFile(filepath.Join("../../deploy", file))
		require.NoError(t, err)
		found := regexp.MustCompile(`"(redis-cli ping .* /proc/1/fd .*)"`).FindAllStringSubmatch(string(content), -1)
		require.Len(t, found, 1, file)
		require.Contains(t, []string{"", found[0][1]}, probe, file)
		probe = found[0][1]
	}
	return probe
}

// Without a password Redis says NOAUTH from its first moment on, and LOADING to nobody.
func TestTheProbeOfRedisWaitsUntilItHasReadWhatItWrote(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	secrets(t, folder)
	users, err := os.OpenFile(filepath.Join(folder, "users.acl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprintf(users, "user %s on >%s ~* &* +@all\n", testenv.RedisAdmin, testenv.RedisPassword(testenv.RedisAdmin))
	require.NoError(t, err)
	require.NoError(t, users.Close())
	pid := filepath.Join(folder, "pid")
	server := testenv.StartRedis(t, "--aclfile", users.Name(), "--appendonly", "yes", "--pidfile", pid, "--key-load-delay", "500")
	admin := redis.NewClient(&redis.Options{
		Addr: server.Addr, Username: testenv.RedisAdmin, Password: testenv.RedisPassword(testenv.RedisAdmin), MaxRetries: -1,
	})
	defer func() { require.NoError(t, admin.Close()) }()
	_, port, _ := strings.Cut(server.Addr, ":")
	probe := func() error {
		process, err := os.ReadFile(pid)
		require.NoError(t, err)
		text := strings.NewReplacer("redis-cli", "redis-cli -p "+port, "/proc/1/", "/proc/"+strings.TrimSpace(string(process))+"/").Replace(startProbe(t))
		return exec.CommandContext(t.Context(), "sh", "-c", text).Run()
	}
	require.NoError(t, probe())

	_, err = admin.Pipelined(t.Context(), func(pipe redis.Pipeliner) error { // to be read for 30 s at 500 µs each
		for n := range 60_000 {
			pipe.Set(t.Context(), fmt.Sprint(n), "", 0)
		}
		return nil
	})
	require.NoError(t, err)
	server.End(syscall.SIGTERM)
	server.Start(t)
	require.Error(t, probe())
	require.ErrorContains(t, admin.Ping(t.Context()).Err(), "LOADING")
	require.NoError(t, admin.ConfigSet(t.Context(), "key-load-delay", "0").Err())
	require.Eventually(t, func() bool { return admin.Ping(t.Context()).Err() == nil }, testenv.Scale(t, 20*time.Second), 10*time.Millisecond)
	require.NoError(t, probe())
}
