package main

import (
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/dockerproxy"
	"github.com/sandloop/sandloop/internal/egress"
)

func TestTheProxyLetsNetworksThroughWhereThereAreRulesAlone(t *testing.T) {
	t.Parallel()
	network := config.Network{Outgoing: "out", Subnet: "198.18.0.0/15", DNS: "10.0.0.53:53", ProxyPath: filepath.Join(t.TempDir(), "egress-proxy")}
	got, err := egressBehindProxy(network)
	require.NoError(t, err)
	require.Nil(t, got)

	network.Rules = []config.NetworkRule{{Tenants: []string{"*"}, Domains: []string{"pypi.org"}}}
	_, err = egressBehindProxy(network)
	require.ErrorContains(t, err, "network.proxy_path", "a gate can have no program then")

	require.NoError(t, os.WriteFile(network.ProxyPath, []byte("a program"), 0o600))
	got, err = egressBehindProxy(network)
	require.NoError(t, err)
	require.Equal(t, &dockerproxy.Egress{
		Program: []byte("a program"), Rules: []egress.Rule{{
			Name: "network.rules[0]", Domains: []string{"pypi.org"}, Ports: []int{443}, MaxConnections: 16, MaxBytes: 256 << 20, Timeout: 5 * time.Minute,
		}}, Outgoing: "out", Subnet: netip.MustParsePrefix("198.18.0.0/15"), DNS: "10.0.0.53:53",
	}, got)
}

func TestAPingTellsWhetherADaemonAnswersBehindTheProxy(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ping-") //nolint:usetesting // the path of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	socket := filepath.Join(dir, "s")
	code, _, said := runNow(t, "", "docker-proxy", "--listen", socket, "--ping")
	require.Equal(t, 1, code)
	require.Contains(t, said, "no docker-proxy with a daemon answers at "+socket)

	listener, err := dockerproxy.Listen(t.Context(), socket)
	require.NoError(t, err)
	status := atomic.Int64{}
	status.Store(http.StatusOK)
	daemon := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }), ReadHeaderTimeout: patience}
	served := make(chan error, 1)
	go func() { served <- daemon.Serve(listener) }()
	t.Cleanup(func() {
		require.NoError(t, daemon.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	code, _, said = runNow(t, "", "docker-proxy", "--listen", socket, "--ping")
	require.Equal(t, 0, code, said)
	status.Store(http.StatusBadGateway)
	code, _, _ = runNow(t, "", "docker-proxy", "--listen", socket, "--ping")
	require.Equal(t, 1, code, "the proxy is there, and no daemon behind it")
}

func TestTheProxyAllowsTheRuntimesOfTheSettingsAlone(t *testing.T) {
	t.Parallel()
	guests := []config.RuntimeRule{{Tenants: []string{"guest-*"}, Runtime: "runsc"}}
	require.Equal(t, []string{""}, allowedRuntimes(config.Sandbox{}))
	require.Equal(t, []string{"", "runsc"}, allowedRuntimes(config.Sandbox{Runtimes: guests}))
	require.Equal(t, []string{"kata", "runsc"}, allowedRuntimes(config.Sandbox{Runtime: "kata", Runtimes: guests}))
}
