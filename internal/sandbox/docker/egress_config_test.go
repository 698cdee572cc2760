package docker

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
)

func TestHostConfigInALane(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Network, spec.Lane = true, &Lane{Network: "sandloop-lane-1", Proxy: netip.MustParseAddr("198.18.0.2")}
	config, host := HostConfig(spec)
	require.False(t, config.NetworkDisabled)
	require.EqualValues(t, "sandloop-lane-1", host.NetworkMode)
	require.Equal(t, []string{"198.18.0.2"}, host.DNS)
	require.Equal(t, []string{"sandloop-egress:198.18.0.2"}, host.ExtraHosts)
}

func TestALaneIsClosedToTheHost(t *testing.T) {
	t.Parallel()
	got := LaneConfig(netip.MustParsePrefix("198.18.0.8/29"), "w1", "i1")
	require.True(t, got.Internal)
	require.Equal(t, map[string]string{"com.docker.network.bridge.inhibit_ipv4": "true"}, got.Options)
	require.Equal(t, "198.18.0.8/29", got.IPAM.Config[0].Subnet)
	require.Equal(t, "198.18.0.9", got.IPAM.Config[0].Gateway)
	require.Equal(t, map[string]string{"dev.sandloop.installation": "i1", "dev.sandloop.owner": "w1", "dev.sandloop.role": "lane"}, got.Labels)
}

func TestTheProxysContainerIsHardened(t *testing.T) {
	t.Parallel()
	r := &Runner{options: Options{Worker: "w1", Installation: "i1", Seccomp: "{}", Egress: &Egress{DNS: "10.0.0.53:53"}}}
	config, host := GateConfig(r.gateSpec("sha256:1", time.Unix(1_800_000_000, 0)))
	require.Equal(t, []string{"--listen=:3128", "--rules=/.sandloop/rules.json", "--dns=10.0.0.53:53"}, []string(config.Cmd))
	require.Equal(t, "65534:65534", config.User)
	require.True(t, config.StdinOnce, "it ends with its worker")
	require.Equal(t, map[string]string{
		"dev.sandloop.installation": "i1", "dev.sandloop.owner": "w1", "dev.sandloop.role": "egress", "dev.sandloop.expires": "1800000090",
	}, config.Labels)
	require.True(t, host.AutoRemove)
	require.True(t, host.ReadonlyRootfs)
	require.False(t, host.Privileged)
	require.EqualValues(t, "bridge", host.NetworkMode)
	require.Equal(t, []string{"ALL"}, []string(host.CapDrop))
	require.Equal(t, []string{"no-new-privileges:true", "seccomp={}"}, host.SecurityOpt)
	require.Equal(t, map[string]string{"net.ipv4.ip_forward": "0"}, host.Sysctls)
	require.Equal(t, host.Memory, host.MemorySwap)
	require.Len(t, host.Mounts, 1)
	require.Empty(t, host.Mounts[0].Source, "nothing of the host's")
}

func TestBlocksAreOfTheSubnet(t *testing.T) {
	t.Parallel()
	whole := netip.MustParsePrefix("198.18.4.0/27")
	seen := map[netip.Prefix]bool{}
	for range 1000 {
		block := randomBlock(whole)
		require.Equal(t, block, block.Masked())
		require.Equal(t, 29, block.Bits())
		require.True(t, whole.Contains(block.Addr()))
		seen[block] = true
	}
	require.Len(t, seen, 4, "198.18.4.0, .8, .16 and .24")
	only := netip.MustParsePrefix("198.18.4.8/29")
	require.Equal(t, only, randomBlock(only))
}

func TestWhoGetsAPass(t *testing.T) {
	t.Parallel()
	rules := &Egress{Rules: []EgressRule{{[]string{"a", "b-*"}, egress.Rule{Name: "0"}}, {[]string{"*"}, egress.Rule{Name: "1"}}}}
	some := &Egress{Rules: rules.Rules[:1]}
	for _, tt := range []struct {
		name   string
		o      Options
		p      sandbox.Program
		rule   string
		refuse string
	}{
		{"no network is asked for", Options{Egress: rules}, sandbox.Program{Tenant: "a"}, "", ""},
		{"nobody has one", Options{}, sandbox.Program{Network: true}, "", "network: this installation gives programs no network (network.rules)"},
		{"the plain bridge", Options{AllowNetwork: true}, sandbox.Program{Network: true}, "", ""},
		{"the first rule", Options{Egress: rules}, sandbox.Program{Network: true, Tenant: "b-1"}, "0", ""},
		{"the second", Options{Egress: rules}, sandbox.Program{Network: true}, "1", ""},
		{"none", Options{Egress: some}, sandbox.Program{Network: true, Tenant: "c"}, "", `network: no rule gives the tenant "c" one: it would have to be in network.rules[].tenants`},
	} {
		got, err := (&Runner{options: tt.o}).passOf(tt.p)
		if tt.refuse != "" {
			require.EqualError(t, err, tt.refuse, tt.name)
			continue
		}
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.rule != "", got != nil, tt.name)
		if got != nil {
			require.Equal(t, tt.rule, got.rule.Name, tt.name)
			require.Len(t, got.token, 26, tt.name)
		}
	}
}

func TestWhatAProgramSetsItselfStays(t *testing.T) {
	t.Parallel()
	plan := sandbox.Plan{Env: []string{"A=1", "HTTPS_PROXY=mine"}}
	(&pass{token: "t"}).equip(&plan, map[string]string{"HTTPS_PROXY": "mine"})
	require.Equal(t, []string{
		"A=1", "ALL_PROXY=http://job:t@sandloop-egress:3128", "HTTPS_PROXY=mine", "HTTP_PROXY=http://job:t@sandloop-egress:3128", "NODE_USE_ENV_PROXY=1",
		"NO_PROXY=localhost,127.0.0.1,::1", "all_proxy=http://job:t@sandloop-egress:3128", "http_proxy=http://job:t@sandloop-egress:3128",
		"https_proxy=http://job:t@sandloop-egress:3128", "no_proxy=localhost,127.0.0.1,::1",
	}, plan.Env)
	(*pass)(nil).equip(&plan, nil)
	require.Len(t, plan.Env, 10)
}
