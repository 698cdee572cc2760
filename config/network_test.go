package config

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNetworkRulesFromFileAndVariable(t *testing.T) {
	load := setup(t)
	c, err := load(`network:
  outgoing: egress
  rules:
    - {tenants: [acme, ""], domains: [pypi.org, "*.pythonhosted.org"], ports: [443, 80], max_connections: 3, max_bytes: 10MiB, timeout: 90s, allow_private: [10.1.2.0/24]}
    - {tenants: ["*"], domains: ["*"]}
`)
	require.NoError(t, err)
	require.Equal(t, NetworkRule{
		Tenants: []string{"acme", ""}, Domains: []string{"pypi.org", "*.pythonhosted.org"}, Ports: []int{443, 80}, MaxConnections: 3, MaxBytes: 10 << 20, Timeout: 90 * time.Second,
		AllowPrivate: []string{"10.1.2.0/24"},
	}, c.Network.Rules[0])
	first, err := c.Network.Rules[0].Egress(0)
	require.NoError(t, err)
	require.Equal(t, "network.rules[0]", first.Name)
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.1.2.0/24")}, first.Private)
	second, err := c.Network.Rules[1].Egress(1)
	require.NoError(t, err)
	require.Equal(t, []int{443}, second.Ports)
	require.Equal(t, 16, second.MaxConnections)
	require.EqualValues(t, 256<<20, second.MaxBytes)
	require.Equal(t, 5*time.Minute, second.Timeout)

	t.Setenv("SANDLOOP_NETWORK_RULES", `[{tenants: [other], domains: [a.example], max_bytes: 1KiB}]`)
	c, err = load("")
	require.NoError(t, err)
	require.Equal(t, []NetworkRule{{Tenants: []string{"other"}, Domains: []string{"a.example"}, MaxBytes: 1 << 10}}, c.Network.Rules)
}

func TestNetworkSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Sandbox.AllowNetwork = true
	c.Network = Network{
		Rules: []NetworkRule{
			{Domains: []string{"PyPI.org"}, AllowPrivate: []string{"10.0.0.1"}},
			{Tenants: []string{"a"}, Domains: []string{"10.0.0.1", "ok.example"}, Ports: []int{70000}, MaxConnections: -1, MaxBytes: -1, Timeout: time.Millisecond, AllowPrivate: []string{"127.0.0.0/8"}},
		},
		Outgoing: "host", Subnet: "198.18.0.1/15", DNS: "10.0.0.53",
	}
	err := c.Validate()
	for _, want := range []string{
		"network.rules[0].tenants: []", `network.rules[0].allow_private[0]: "10.0.0.1"`,
		"network.rules[1].domains[0]", "network.rules[1].ports[0]: 70000", "network.rules[1].max_connections: -1", "network.rules[1].max_bytes: -1", "network.rules[1].timeout: 1ms",
		"network.rules[1].allow_private[0]: 127.0.0.0/8", "sandbox.allow_network: true is not allowed", "network.outgoing: host", `network.subnet: "198.18.0.1/15"`, `network.dns: "10.0.0.53"`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "domains[1]")
	c.Network, c.Sandbox.AllowNetwork = Default().Network, false
	require.NoError(t, c.Validate())
}
