package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// The files that a cluster mounts for it are the test's own.
func TestTheClustersConfigurationIsOneAWorkerTakes(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("swordfish-swordfish"), 0o600))
	t.Setenv(EnvName("redis.password_file"), secret)
	t.Setenv(EnvName("admin.token_file"), secret)
	t.Setenv(EnvPrefix+"CONFIG", "../deploy/kubernetes/sandloop.yaml")
	c, err := Load(pflag.NewFlagSet("", pflag.ContinueOnError))
	require.NoError(t, err)
	require.Equal(t, "swordfish-swordfish", c.Redis.Password)
	require.Equal(t, "swordfish-swordfish", c.Admin.Token)
	require.Equal(t, "unix:///run/sandloop/docker.sock", c.Sandbox.DockerHost)
	require.Positive(t, c.Worker.Concurrency)
}
