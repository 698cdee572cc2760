package cli_test

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
)

func TestRedisOptionsAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	c := config.Redis{
		Addr: "rediss://queue:6380", Username: "u", Password: "p", DB: 3, SentinelUsername: "su", SentinelPassword: "sp",
		TLS: config.TLS{Enabled: true, CA: "ca.pem", Cert: "cert.pem", Key: "key.pem", ServerName: "name"}, EmbeddedAddr: "127.0.0.1:1",
	}
	require.Equal(t, jobs.RedisOptions{
		Addr: "rediss://queue:6380", Username: "u", Password: "p", DB: 3, SentinelUsername: "su", SentinelPassword: "sp",
		TLS: true, CA: "ca.pem", Cert: "cert.pem", Key: "key.pem", ServerName: "name",
	}, cli.RedisOptions(c))
	c.Addr = config.Embedded
	require.Equal(t, jobs.RedisOptions{Addr: "127.0.0.1:1"}, cli.RedisOptions(c))
}

func TestVersionNamesTheProgram(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"version", "--version"} {
		var stdout bytes.Buffer
		command := &cobra.Command{Use: "worker"}
		cli.AddVersion(command, &stdout)
		command.SetOut(&stdout)
		command.SetArgs([]string{how})
		require.NoError(t, command.Execute())
		require.Regexp(t, `^worker \S+ go1\.\S+ \w+/\w+\n$`, stdout.String(), how)
	}
}
