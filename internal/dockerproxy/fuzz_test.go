package dockerproxy

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
)

// FuzzCreate takes any body as a request for a container: what is let through has none of what leads out of a sandbox.
func FuzzCreate(f *testing.F) {
	for _, volumes := range [][]string{nil, {"/data"}} {
		spec := docker.ContainerSpec{
			ImageID: "sha256:0", ImageVolumes: volumes, Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789ab",
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
	}
	p := &Proxy{options: Options{Maxima: sandbox.DefaultMaxima()}}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := &call{method: http.MethodPost, path: "/containers/create", query: url.Values{"name": {"sandloop-x"}}, body: body}
		if _, err := p.sandbox(c); err != nil {
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
		require.Contains(t, []container.NetworkMode{"none"}, host.NetworkMode)
		for _, m := range host.Mounts {
			require.Nil(t, m.BindOptions)
			require.True(t, m.Type == "tmpfs" || strings.HasPrefix(m.Source, "sandloop-init-"))
		}
		if len(passed.Entrypoint) == 1 && passed.Entrypoint[0] == "never-started" {
			return
		}
		require.Equal(t, "65534:65534", passed.User)
		require.Positive(t, host.Memory)
		require.Positive(t, *host.PidsLimit)
		require.Positive(t, host.CPUQuota)
	})
}

// FuzzRequest takes any request line: no panic, and what has no rule is refused.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/v1.41/info", "")
	f.Add("GET", "/containers/json", "all=1&filters={\"label\":{\"dev.sandloop.installation=i\":true}}")
	f.Add("POST", "/v1.41/containers/x/attach", "stream=1")
	f.Add("POST", "/..%2f/build", ";=%")
	daemon, err := client.NewClientWithOpts(client.WithHost("unix:///nowhere"), client.WithVersion("1.41"))
	require.NoError(f, err)
	p := New(Options{Docker: daemon, Maxima: sandbox.DefaultMaxima()})
	f.Fuzz(func(t *testing.T, method, path, query string) {
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Body: http.NoBody}
		_, c, err := p.understand(r.WithContext(t.Context()))
		if err == nil {
			require.NotNil(t, p.rule(c))
			require.NotContains(t, c.path, "..")
		}
	})
}

func TestASandboxOnGVisorIsLetThrough(t *testing.T) {
	t.Parallel()
	p := &Proxy{options: Options{Maxima: sandbox.DefaultMaxima(), Runtimes: []string{"runsc"}, GVisor: []string{"runsc"}, Seccomp: "{}"}}
	for _, gVisor := range []bool{true, false} {
		var asked container.CreateRequest
		asked.Config, asked.HostConfig = docker.HostConfig(docker.ContainerSpec{
			ImageID: "sha256:0", Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789ab", Runtime: "runsc", GVisor: gVisor, Seccomp: "{}",
			Worker: "w", Installation: "i", Deadline: time.Minute, Expires: time.Unix(1, 0),
		})
		body, err := json.Marshal(asked)
		require.NoError(t, err)
		_, err = p.sandbox(&call{query: url.Values{"name": {"sandloop-x"}}, body: body})
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
			ImageID: "sha256:0", Limits: sandbox.DefaultLimits(), InitVolume: "sandloop-init-0123456789ab",
			Worker: "w", Installation: "i", Deadline: time.Minute, Expires: time.Unix(1, 0),
		})
		body, err := json.Marshal(asked)
		require.NoError(t, err)
		_, err = p.sandbox(&call{query: url.Values{"name": {"sandloop-x"}}, body: body})
		if allowed {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, `the runtime "" is not among those of the configuration`)
		}
	}
}
