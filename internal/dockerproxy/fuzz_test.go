package dockerproxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

const fuzzLane = "sandloop-lane-0123456789ab"

var fuzzEgress = &Egress{Program: []byte("egress-proxy"), Outgoing: "out", Subnet: netip.MustParsePrefix("198.18.0.0/15")}

// FuzzCreate takes any body as a request for a container: what is let through has none of what leads out of a sandbox.
func FuzzCreate(f *testing.F) {
	for _, volumes := range [][]string{nil, {"/data"}} {
		spec := docker.ContainerSpec{
			ImageID: "sha256:0", ImageVolumes: volumes, Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789abcdef0123456789abcdef",
			Worker: "w", Installation: "i", Job: "j", Attempt: 1, Deadline: time.Minute, Expires: time.Unix(1, 0),
		}
		var asked container.CreateRequest
		asked.Config, asked.HostConfig = docker.HostConfig(spec)
		text, err := json.Marshal(asked)
		require.NoError(f, err)
		f.Add(text)
		asked.Config, asked.HostConfig = docker.FillConfig(spec)
		text, err = json.Marshal(asked)
		require.NoError(f, err)
		f.Add(text)
		spec.Network, spec.Lane = true, &docker.Lane{Network: fuzzLane, Proxy: netip.MustParseAddr("198.18.0.10")}
		asked.Config, asked.HostConfig = docker.HostConfig(spec)
		text, err = json.Marshal(asked)
		require.NoError(f, err)
		f.Add(text)
	}
	var asked container.CreateRequest
	asked.Config, asked.HostConfig = docker.GateConfig(docker.GateSpec{ImageID: "sha256:0", Outgoing: "out", Worker: "w", Installation: "i", Expires: time.Unix(1, 0)})
	text, err := json.Marshal(asked)
	require.NoError(f, err)
	f.Add(text)
	p := &Proxy{options: Options{Maxima: sandbox.DefaultMaxima(), Egress: fuzzEgress}}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := &call{method: http.MethodPost, path: "/containers/create", query: url.Values{"name": {"sandloop-x"}}, body: body}
		if _, err := p.container(c); err != nil {
			return
		}
		var passed container.CreateRequest
		require.NoError(t, json.Unmarshal(c.body, &passed))
		host := passed.HostConfig
		require.False(t, host.Privileged)
		require.Empty(t, host.Binds)
		require.Empty(t, host.CapAdd)
		require.Empty(t, host.Devices)
		require.Empty(t, host.PidMode)
		require.Len(t, passed.Entrypoint, 1)
		isGate := passed.Entrypoint[0] == "/.sandloop/egress-proxy"
		if isGate {
			require.Equal(t, container.NetworkMode("out"), host.NetworkMode)
		} else {
			require.True(t, host.NetworkMode == "none" || docker.IsLaneName(string(host.NetworkMode)), host.NetworkMode)
		}
		for _, m := range host.Mounts {
			require.Nil(t, m.BindOptions)
			require.True(t, m.Type == "tmpfs" || strings.HasPrefix(m.Source, "sandloop-init-") || isGate && m.Source == "")
		}
		if passed.Entrypoint[0] == "never-started" {
			return
		}
		require.Equal(t, "65534:65534", passed.User)
		require.True(t, host.ReadonlyRootfs)
		require.Positive(t, host.Memory)
		require.Positive(t, *host.PidsLimit)
		require.True(t, isGate || host.CPUQuota > 0)
	})
}

// FuzzRequest takes any request: no panic, what has no rule is refused, and a network that is made leads nowhere.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/v1.41/info", "", []byte(nil))
	f.Add("GET", "/containers/json", "all=1&filters={\"label\":{\"dev.sandloop.installation=i\":true}}", []byte(nil))
	f.Add("POST", "/v1.41/containers/x/attach", "stream=1", []byte(nil))
	f.Add("POST", "/..%2f/build", ";=%", []byte(nil))
	for request, body := range map[string]any{
		"create": network.CreateRequest{Name: fuzzLane, CreateOptions: docker.LaneConfig(netip.MustParsePrefix("198.18.0.8/29"), "w", "i")},
		fuzzLane + "/connect": network.ConnectOptions{
			Container: strings.Repeat("a", 64), EndpointConfig: docker.GateEndpoint(netip.MustParseAddr("198.18.0.10")),
		},
		fuzzLane + "/disconnect": network.DisconnectOptions{Container: strings.Repeat("a", 64), Force: true},
	} {
		text, err := json.Marshal(body)
		require.NoError(f, err)
		f.Add("POST", "/v1.41/networks/"+request, "", text)
	}
	daemon, err := client.NewClientWithOpts(client.WithHost("unix:///nowhere"), client.WithVersion("1.41"))
	require.NoError(f, err)
	p := New(Options{Docker: daemon, Maxima: sandbox.DefaultMaxima(), Egress: fuzzEgress})
	f.Fuzz(func(t *testing.T, method, path, query string, body []byte) {
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Body: io.NopCloser(bytes.NewReader(body))}
		_, c, err := p.understand(r.WithContext(t.Context()))
		if err != nil {
			return
		}
		require.NotNil(t, p.rule(c))
		require.NotContains(t, c.path, "..")
		if c.path == "/networks/create" {
			var passed network.CreateRequest
			require.NoError(t, json.Unmarshal(c.body, &passed))
			require.True(t, passed.Internal)
			require.Equal(t, "bridge", passed.Driver)
			require.Equal(t, map[string]string{"com.docker.network.bridge.inhibit_ipv4": "true"}, passed.Options)
			require.Len(t, passed.IPAM.Config, 1)
			block := netip.MustParsePrefix(passed.IPAM.Config[0].Subnet)
			require.True(t, block.Bits() == 29 && fuzzEgress.Subnet.Contains(block.Addr()), block)
		}
	})
}

func TestASandboxOnGVisorIsLetThrough(t *testing.T) {
	t.Parallel()
	p := &Proxy{options: Options{Maxima: sandbox.DefaultMaxima(), Runtimes: []string{"runsc"}, GVisor: []string{"runsc"}, Seccomp: "{}"}}
	for _, gVisor := range []bool{true, false} {
		var asked container.CreateRequest
		asked.Config, asked.HostConfig = docker.HostConfig(docker.ContainerSpec{
			ImageID: "sha256:0", Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789abcdef0123456789abcdef", Runtime: "runsc", GVisor: gVisor, Seccomp: "{}",
			Worker: "w", Installation: "i", Deadline: time.Minute, Expires: time.Unix(1, 0),
		})
		body, err := json.Marshal(asked)
		require.NoError(t, err)
		_, err = p.container(&call{query: url.Values{"name": {"sandloop-x"}}, body: body})
		require.Equal(t, gVisor, err == nil, "%v", err)
	}
}

// Where the operator wants gVisor for all, a worker that somebody has broken into gets no sandbox on the daemon's default.
func TestTheDefaultRuntimeMustBeAmongThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	for runtimes, allowed := range map[string]bool{"runsc": false, "": true} {
		p := &Proxy{options: Options{Maxima: sandbox.DefaultMaxima(), Runtimes: []string{runtimes}}}
		var asked container.CreateRequest
		asked.Config, asked.HostConfig = docker.HostConfig(docker.ContainerSpec{
			ImageID: "sha256:0", Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789abcdef0123456789abcdef",
			Worker: "w", Installation: "i", Deadline: time.Minute, Expires: time.Unix(1, 0),
		})
		body, err := json.Marshal(asked)
		require.NoError(t, err)
		_, err = p.container(&call{query: url.Values{"name": {"sandloop-x"}}, body: body})
		if allowed {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, `the runtime "" is not among those of the configuration`)
		}
	}
}
