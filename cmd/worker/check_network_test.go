package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
)

// goodNetwork is what network.sh finds in a sandbox that is right, and what is noted of it.
func goodNetwork() sandbox.Result {
	result := prints(`the gate=connected
cloud metadata=nobody answers
the internet, past the gate=nobody answers
the host=nobody answers
a name=not resolved
the gate, without the job's password=407 sandloop: want the user and password that HTTPS_PROXY has
an address, through the gate=403 sandloop: "192.0.2.1" is an address: only names can be reached
`)
	refused := sandbox.Connection{Verdict: sandbox.ConnectionRefused}
	result.Network = &sandbox.NetworkUse{Connections: []sandbox.Connection{refused, refused}, Refused: 2}
	result.Enforcement.Interfaces = []string{"eth0"}
	return result
}

func TestEachDifferenceOfTheNetworkIsFound(t *testing.T) {
	t.Parallel()
	good := networkControls(goodNetwork())
	require.Empty(t, differing(good))
	require.Len(t, good, 10)
	require.Contains(t, good, same("network: the host", "nobody answers", "nobody answers"))

	for name, change := range map[string][2]string{
		"network: the internet, past the gate": {"the gate=nobody answers", "the gate=connected"},
		"network: the host":                    {"the host=nobody answers", "the host=somebody answers"},
		"network: cloud metadata":              {"cloud metadata=nobody answers", "cloud metadata=connected"},
		"network: a name":                      {"a name=not resolved", "a name=resolved"},
		"network: the gate":                    {"the gate=connected\ncloud", "the gate=nobody answers\ncloud"},
		"network: the gate, without the job's password": {
			"=407 sandloop: want the user and password that HTTPS_PROXY has", `=403 sandloop: "192.0.2.1" is an address: only names can be reached`,
		},
		"network: an address, through the gate": {`=403 sandloop: "192.0.2.1" is an address: only names can be reached`, "=502 sandloop: i/o timeout"},
		"network: routes past the gate":         {"the host=", "route=eth0 by 010011AC\nthe host="},
	} {
		result := goodNetwork()
		result.Stdout.Data = []byte(strings.Replace(string(result.Stdout.Data), change[0], change[1], 1))
		require.Equal(t, []string{name}, differing(networkControls(result)))
	}
	for name, change := range map[string]func(*sandbox.Result){
		"network: interfaces":          func(r *sandbox.Result) { r.Enforcement.Interfaces = []string{"eth0", "eth1"} },
		"network: in the job's record": func(r *sandbox.Result) { r.Network = nil },
	} {
		result := goodNetwork()
		change(&result)
		require.Equal(t, []string{name}, differing(networkControls(result)))
	}
	require.Len(t, differing(networkControls(sandbox.Result{})), 8, "all but the route and the name, which an image need not be able to tell")
	result := goodNetwork()
	result.Network.Connections[1].Verdict, result.Network.Refused = sandbox.ConnectionAllowed, 1
	require.Contains(t, networkControls(result), same("network: in the job's record", "2 refused, 0 connected", "1 refused, 1 connected"))
}

func TestANetworkIsLookedAtInTheFirstImageThatCan(t *testing.T) {
	t.Parallel()
	rejected := sandbox.Result{Outcome: sandbox.OutcomeRejected, Message: "no rule"}
	for name, tt := range map[string]struct {
		runner  scriptedRunner
		able    [2]bool
		differs [2][]string
		found   string
	}{
		"the first":      {scriptedRunner{shellOf("a"): goodNetwork()}, [2]bool{true, true}, [2][]string{}, ""},
		"the second":     {scriptedRunner{shellOf("b"): goodNetwork()}, [2]bool{false, true}, [2][]string{}, ""},
		"none":           {nil, [2]bool{}, [2][]string{nil, {"network"}}, "not looked at: no image has bash and timeout"},
		"no start":       {nil, [2]bool{true, true}, [2][]string{{"network"}, nil}, "the daemon is gone"},
		"another result": {scriptedRunner{shellOf("a"): rejected}, [2]bool{true, true}, [2][]string{{"network"}, nil}, "rejected no rule"},
	} {
		images := []imageReport{{Image: "a", connects: tt.able[0]}, {Image: "b", connects: tt.able[1]}}
		require.NoError(t, (&checker{runner: tt.runner}).network(t.Context(), images, "acme"), name)
		all := append(images[0].Controls, images[1].Controls...)
		require.NotEmpty(t, all, name)
		for i, want := range tt.differs {
			require.Equal(t, want, differing(images[i].Controls), name)
		}
		if tt.found != "" {
			require.Equal(t, tt.found, all[0].Found, name)
		}
	}
}

func TestTheTenantWhoseNetworkIsLookedAtHasARule(t *testing.T) {
	t.Parallel()
	for pattern, tenant := range map[string]string{"acme": "acme", "team-*": "team-", "*": "", "": ""} {
		got := networked(&docker.Egress{Rules: []docker.EgressRule{{Tenants: []string{pattern, "other"}}, {Tenants: []string{"*"}}}})
		require.Equal(t, tenant, got)
		require.True(t, sandbox.MatchTenant(pattern, got))
	}
}

func TestACheckWithRulesLooksAtTheNetwork(t *testing.T) {
	t.Parallel()
	rules := fmt.Sprintf("network: {proxy_path: %q, rules: [{tenants: ['team-*'], domains: ['*']}]}\n", testenv.ProxyPath(t))
	code, stdout, said := runNow(t, onDocker(t)+rules, "check", "-l", "bash", "--json")
	var report checkReport
	require.NoError(t, json.Unmarshal([]byte(stdout), &report), said)
	require.Len(t, report.Images, 1)
	var names []string
	for _, c := range report.Images[0].Controls {
		if strings.HasPrefix(c.Name, "network: ") {
			require.True(t, c.OK, c)
			names = append(names, strings.TrimPrefix(c.Name, "network: "))
		}
	}
	require.Equal(t, []string{
		"interfaces", "routes past the gate", "the internet, past the gate", "the host", "cloud metadata", "a name", "the gate",
		"the gate, without the job's password", "an address, through the gate", "in the job's record",
	}, names)
	require.Contains(t, report.Images[0].Controls, same("program: network interfaces", "none", "none"), "who asks for no network has none")
	require.Equal(t, 0, code, said+stdout)
	requireNoContainers(t, checkInstallation)
	require.Empty(t, dockerCLI(t, "network", "ls", "--quiet", "--filter", "label=dev.sandloop.installation="+checkInstallation))
}
