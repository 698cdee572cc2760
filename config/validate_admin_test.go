package config

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhereAWorkerMayServeItsOperators(t *testing.T) {
	t.Parallel()
	for addr, valid := range map[string]bool{
		"": true, "127.0.0.1:9390": true, ":9390": true, "[::1]:0": true, "worker.example:65535": true,
		"9390": false, "127.0.0.1": false, "127.0.0.1:": false, "127.0.0.1:http": false, ":65536": false, ":-1": false, ":+1": false, ":007": false,
		"http://127.0.0.1:9390": false,
	} {
		c := Default()
		c.Admin.Addr = addr
		if err := c.Validate(); valid {
			require.NoError(t, err, addr)
		} else {
			require.ErrorContains(t, err, `admin.addr: "`+addr+`" is not allowed: want host:port`)
		}
	}
}

func TestTokensThatCanBeGuessedAreRefusedAndNotShown(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"":                     "",
		"sixteen-letters!":     "",
		"fifteen-letters":      "admin.token: one of 15 bytes is not allowed: want at least 16 visible ASCII characters",
		"two words are not it": "admin.token: one of 20 bytes is not allowed",
		"sixteen-letters!\t":   "admin.token: one of 17 bytes is not allowed",
		"sixteen-létters!":     "admin.token: one of 17 bytes is not allowed",
	} {
		c := Default()
		c.Admin.Token = token
		if err := c.Validate(); want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), token)
		}
		if token != "" {
			require.NotContains(t, c.LogValue().String(), token)
		}
	}
}

func TestMetricsAreOnlyProtectedByAToken(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Admin.ProtectMetrics = true
	require.EqualError(t, c.Validate(), "admin.protect_metrics: true is not allowed: want it only beside admin.token or admin.token_file")
	c.Admin.Token = "0123456789abcdef"
	require.NoError(t, c.Validate())
}

func TestTheTokenComesFromAFile(t *testing.T) {
	load := setup(t)
	require.NoError(t, os.WriteFile("token", []byte("0123456789abcdef\n"), 0o600))
	c, err := load("admin: {token_file: token, protect_metrics: true}")
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", c.Admin.Token)
	_, err = load("admin: {token_file: absent}")
	require.ErrorContains(t, err, "admin.token_file: open absent")
	_, err = load("admin: {token_file: token, token: 0123456789abcdeg}")
	require.ErrorContains(t, err, "admin.token_file: admin.token is set too: want one of them")
	require.NotContains(t, err.Error(), "0123456789abcde")
}
