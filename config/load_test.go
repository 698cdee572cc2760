package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// setup gives a test an empty directory with no configuration file anywhere it is looked
// for, and a loader that reads content, if any, with flags. Such tests cannot be parallel.
func setup(t *testing.T) (load func(content string, args ...string) (Config, error)) {
	t.Helper()
	for _, name := range append(Keys(), "config") {
		t.Setenv(EnvName(name), "")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "xdg"))
	return func(content string, args ...string) (Config, error) {
		if content != "" {
			require.NoError(t, os.WriteFile(fileName, []byte(content), 0o600))
		}
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		AddFlags(flags)
		AddFlag(flags, "concurrency", "worker.concurrency", "")
		require.NoError(t, flags.Parse(args))
		return Load(flags)
	}
}

func TestNoFileGivesTheDefaults(t *testing.T) {
	load := setup(t)
	c, err := load("")
	require.NoError(t, err)
	require.Equal(t, Default(), c)
	require.Equal(t, sandbox.DefaultLimits(), c.Limits.Defaults.Sandbox())
	require.Equal(t, sandbox.DefaultMaxima(), c.Limits.Maxima.Sandbox())
}

func TestFlagsBeatTheEnvironmentBeatsTheFileBeatsTheDefaults(t *testing.T) {
	load := setup(t)
	file := "worker: {concurrency: 3, grace: 90s}\nredis:\n  addr: file:1\n  db: 2\nlimits: {defaults: {memory: 512MiB}}\n"
	c, err := load(file)
	require.NoError(t, err)
	require.Equal(t, 3, c.Worker.Concurrency)
	require.Equal(t, 90*time.Second, c.Worker.Grace)
	require.Equal(t, Size(536870912), c.Limits.Defaults.Memory)
	require.Equal(t, fileName, c.File)

	t.Setenv("SANDLOOP_WORKER_CONCURRENCY", "5")
	t.Setenv("SANDLOOP_REDIS_ADDR", "env:2")
	t.Setenv("SANDLOOP_LIMITS_DEFAULTS_MEMORY", "1GiB")
	t.Setenv("SANDLOOP_SANDBOX_ALLOW_NETWORK", "true")
	t.Setenv("SANDLOOP_REDIS_PASSWORD", "0123")
	c, err = load(file)
	require.NoError(t, err)
	require.Equal(t, 5, c.Worker.Concurrency)
	require.Equal(t, "env:2", c.Redis.Addr)
	require.Equal(t, Size(1073741824), c.Limits.Defaults.Memory)
	require.True(t, c.Sandbox.AllowNetwork)
	require.Equal(t, "0123", c.Redis.Password)

	c, err = load(file, "--concurrency=7", "--redis", "flag:3")
	require.NoError(t, err)
	require.Equal(t, 7, c.Worker.Concurrency)
	require.Equal(t, "flag:3", c.Redis.Addr)
	require.Equal(t, 2, c.Redis.DB, "from the file still")
	_, err = load(file, "--redis", "rediss://me:hunter2@h:1")
	require.EqualError(t, err, `--redis: "rediss://me:xxxxx@h:1" has a password, which all users of the machine see in its list of processes: `+
		"want it in redis.password_file or SANDLOOP_REDIS_PASSWORD")
	require.Equal(t, 1, c.Worker.InteractiveSlots, "from the defaults still")
}

func TestEveryKeyHasAnEnvironmentVariableOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, key := range Keys() {
		require.Empty(t, seen[EnvName(key)], "%s has the same variable", key)
		seen[EnvName(key)] = key
	}
	require.Equal(t, "redis.tls.server_name", seen["SANDLOOP_REDIS_TLS_SERVER_NAME"])
}

func TestTheFileIsFoundInOrder(t *testing.T) {
	load := setup(t)
	write := func(path, level string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("log: {level: "+level+"}"), 0o600))
	}
	level := func(args ...string) string {
		c, err := load("", args...)
		require.NoError(t, err)
		return c.Log.Level
	}
	write(filepath.Join("xdg", "sandloop", fileName), "debug")
	require.Equal(t, "debug", level())
	write(fileName, "warn")
	require.Equal(t, "warn", level())
	write("named.yaml", "error")
	t.Setenv("SANDLOOP_CONFIG", "named.yaml")
	require.Equal(t, "error", level())
	write("flag.yaml", "info")
	require.Equal(t, "info", level("--config", "flag.yaml"))
	_, err := load("", "--config", "absent.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "absent.yaml")
}

func TestWhatAFileMustNotHold(t *testing.T) {
	load := setup(t)
	for content, want := range map[string][]string{
		"redis: {adr: x}":                    {"sandloop.yaml", "redis.adr: there is no such key"},
		"rediss: 1\nworker: {concurency: 1}": {"rediss: there is no such key", "worker.concurency: there is no such key"},
		"redis: localhost":                   {"redis: is a section"},
		"log: {level: {a: b}}":               {"log.level: is not a section"},
		"redis: {addr: a:1\n":                {"sandloop.yaml", "line"},
		"redis: {password: 1234567}":         {"redis.password", "put it in quotes"},
		"worker: {concurrency: 2.5}":         {"worker.concurrency", "2.5 is not a whole number"},
		"worker: {concurrency: many}":        {"worker.concurrency", `"many" is not a whole number`},
		"worker: {grace: 30}":                {"worker.grace", "such as 30s"},
		"limits: {defaults: {memory: lots}}": {"limits.defaults.memory", "such as 256MiB"},
		"sandbox: {allow_network: maybe}":    {"sandbox.allow_network", "neither true nor false"},
		"sandbox: {allow_network: 1}":        {"sandbox.allow_network"},
		"limits: {defaults: {cpus: \"\"}}":   {"limits.defaults.cpus", "is not a number"},
		"log: {level: info, level: warn}":    {"sandloop.yaml", "already"},
	} {
		_, err := load(content)
		require.Error(t, err, content)
		for _, part := range want {
			require.ErrorContains(t, err, part, content)
		}
		require.NotContains(t, err.Error(), "1234567", "a secret")
	}
}

func TestWrongValuesAreListedByKeyAndInNobodyElsesWords(t *testing.T) {
	load := setup(t)
	_, err := load("worker: {concurrency: many, grace: 30}")
	require.EqualError(t, err, `read configuration: worker.concurrency: "many" is not a whole number
worker.grace: 30 is not a duration: want one with its unit, such as 30s`)
}

func TestAFileMayLeaveThingsEmpty(t *testing.T) {
	load := setup(t)
	for _, content := range []string{"# nothing\n", "redis:\n", "redis:\n  addr:\nworker:\n  weights:\n"} {
		c, err := load(content)
		require.NoError(t, err, content)
		c.File = ""
		require.Equal(t, Default(), c, content)
	}
}

func TestThePasswordComesFromAFile(t *testing.T) {
	load := setup(t)
	require.NoError(t, os.WriteFile("secret", []byte("s3cr et\r\nsecond line\n"), 0o600))
	c, err := load("redis: {sentinel_password_file: secret}")
	require.NoError(t, err)
	require.Equal(t, "s3cr et", c.Redis.SentinelPassword)
	c, err = load("redis: {password_file: secret}")
	require.NoError(t, err)
	require.Equal(t, "s3cr et", c.Redis.Password)

	require.NoError(t, os.WriteFile("empty", []byte("\n"), 0o600))
	for content, want := range map[string]string{
		"redis: {password_file: absent}":                "no such file",
		"redis: {password_file: empty}":                 "is empty",
		"redis: {password_file: secret, password: abc}": "want one of them",
	} {
		_, err := load(content)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "redis.password_file")
	}
}

func TestEveryProblemIsToldAtOnce(t *testing.T) {
	load := setup(t)
	_, err := load("redis: {db: -1, password_file: absent}\nworker: {max_attempts: 0}\nlog: {level: loud}")
	require.Error(t, err)
	for _, want := range []string{
		"redis.password_file: ",
		"redis.db: -1 is not allowed: want 0 to 16383",
		"worker.max_attempts: 0 is not allowed: want 1 to 100",
		`log.level: "loud" is not allowed: want one of debug, info, warn, error`,
	} {
		require.Equal(t, 1, strings.Count(err.Error(), want), "%s in %v", want, err)
	}
}

func TestAFlagForAKeyThatDoesNotExistIsAMistakeInTheProgram(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { AddFlag(pflag.NewFlagSet("", pflag.ContinueOnError), "x", "no.such.key", "") })
}
