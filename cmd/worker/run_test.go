package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const nowhere = "redis: {addr: \"127.0.0.1:1\"}\nsandbox: {docker_host: \"unix:///nonexistent/docker.sock\", init_path: /nonexistent/init}\nlog: {level: error}\n"

func TestEverythingThatKeepsAWorkerFromStartingIsToldAtOnce(t *testing.T) {
	t.Parallel()
	code, stdout, said := runNow(t, nowhere)
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	for _, want := range []string{
		"worker: cannot start:",
		"redis at 127.0.0.1:1: start it",
		"no daemon answers at unix:///nonexistent/docker.sock: start it",
		"sandbox-init: stat /nonexistent/init: no such file",
	} {
		require.Contains(t, said, want)
	}
}

func TestAStopDuringTheStartIsNoFailure(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sandloop.yaml")
	require.NoError(t, os.WriteFile(file, []byte(nowhere), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, run(ctx, []string{"--config", file}, strings.NewReader(""), io.Discard, io.Discard))
}

func TestABadConfigurationIsToldWhole(t *testing.T) {
	t.Parallel()
	code, _, said := runNow(t, "worker: {grace: -1s}\nlimits: {defaults: {memory: 0}}\nredis: {addr: nonsense}\n")
	require.Equal(t, 1, code)
	require.Contains(t, said, "worker.grace: -1s is not allowed")
	require.Contains(t, said, "limits.defaults.memory: 0 is not allowed")
	require.Contains(t, said, `redis.addr: "nonsense" is not allowed`)
}

func TestAPasswordIsNeverSaid(t *testing.T) {
	t.Parallel()
	c := start(t, "redis: {addr: \"redis://me:hunter2@127.0.0.1:1\"}\nsandbox: {docker_host: \"unix:///nonexistent\"}\nlog: {level: debug}")
	code, said := c.end(t)
	require.Equal(t, 1, code)
	require.Contains(t, said, "redis://me:xxxxx@127.0.0.1:1")
	require.NotContains(t, said+c.stderr.String(), "hunter2")
}

func TestCommandLinesThatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--no-such-flag"},
		{"no-such-command"},
		{"check", "extra"},
		{"version", "extra"},
		{"--embedded", "--redis", "localhost:6379"},
		{"check", "--language", "cobol"},
		{"--concurrency"},
	} {
		code, _, said := runNow(t, nowhere, args...)
		require.Equal(t, 2, code, "%v: %s", args, said)
	}
}

func TestAFlagWithABadValueNamesItsKey(t *testing.T) {
	t.Parallel()
	code, _, said := runNow(t, nowhere, "--concurrency", "many")
	require.Equal(t, 1, code)
	require.Contains(t, said, "worker.concurrency")
}

func TestACheckNeedsDockerAndSaysSo(t *testing.T) {
	t.Parallel()
	code, stdout, said := runNow(t, nowhere, "check")
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, said, "no daemon answers at unix:///nonexistent/docker.sock")
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	code, stdout, _ := runNow(t, "", "version")
	require.Equal(t, 0, code)
	require.Regexp(t, `^worker \S+ go1\.\S+ \w+/\w+\n$`, stdout)
	code, stdout, _ = runNow(t, "", "--help")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "--embedded")
}
