package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
)

// starts notes what is started, and fails for the runtimes that are its keys; "warm" is the pool.
type starts struct {
	broken map[string]error
	tried  []string
}

func (s *starts) Warm(ctx context.Context) error { return s.ProbeOn(ctx, "warm") }

func (s *starts) ProbeOn(_ context.Context, runtime string) error {
	s.tried = append(s.tried, runtime)
	return s.broken[runtime]
}

func TestEachRuntimeIsTriedOnceAndNamedByItsSetting(t *testing.T) {
	t.Parallel()
	d := &daemon{info: system.Info{DefaultRuntime: "runc"}}
	rules := func(runtimes ...string) (rules []config.RuntimeRule) {
		for _, runtime := range runtimes {
			rules = append(rules, config.RuntimeRule{Tenants: []string{"staff"}, Runtime: runtime})
		}
		return rules
	}
	everybody := []config.RuntimeRule{{Tenants: []string{"*"}, Runtime: "kata"}}
	for name, test := range map[string]struct {
		sandbox  config.Sandbox
		tried    []string
		problems []string
	}{
		"the usual start":             {config.Sandbox{PoolSize: 2}, []string{"warm"}, []string{`sandbox.runtime: the daemon's default, "runc": no pool`}},
		"no pool":                     {config.Sandbox{}, []string{""}, nil},
		"a runtime that is set":       {config.Sandbox{PoolSize: 1, Runtime: "kata"}, []string{"warm"}, []string{`sandbox.runtime: "kata": no pool`}},
		"one that only a rule names":  {config.Sandbox{PoolSize: 1, Runtimes: rules("crun", "broken")}, []string{"warm", "crun", "broken"}, []string{`sandbox.runtime: the daemon's default, "runc": no pool`, `sandbox.runtimes[1].runtime: "broken": no such file`}},
		"one that two rules name":     {config.Sandbox{Runtimes: rules("broken", "crun", "broken")}, []string{"", "broken", "crun"}, []string{`sandbox.runtimes[0].runtime, sandbox.runtimes[2].runtime: "broken": no such file`}},
		"a pool of a rule's runtime":  {config.Sandbox{PoolSize: 1, Runtime: "broken", Runtimes: everybody}, []string{"broken", "warm"}, []string{`sandbox.runtime: "broken": no such file`, `sandbox.runtimes[0].runtime: "kata": no pool`}},
		"a rule with the usual again": {config.Sandbox{Runtime: "kata", Runtimes: everybody}, []string{"kata"}, nil},
	} {
		s := &starts{broken: map[string]error{"warm": errors.New("no pool"), "broken": errors.New("no such file")}}
		options := docker.Options{PoolSize: test.sandbox.PoolSize, Runtime: test.sandbox.Runtime, Runtimes: runtimeRules(test.sandbox.Runtimes)}
		var problems []string
		for _, problem := range d.tryRuntimes(t.Context(), test.sandbox, options, s, slog.New(slog.DiscardHandler)) {
			problems = append(problems, problem.Error())
		}
		require.Equal(t, test.tried, s.tried, name)
		require.Equal(t, test.problems, problems, name)
	}
}

// registering is a daemon that lists a runtime which the real one behind it cannot start.
func registering(t *testing.T, runtime string) (host string) {
	t.Helper()
	real, err := client.NewClientWithOpts(client.FromEnv)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, real.Close()) })
	dial := real.Dialer()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = transport
	proxy.ModifyResponse = func(answer *http.Response) error {
		if !strings.HasSuffix(answer.Request.URL.Path, "/info") {
			return nil
		}
		var info map[string]any
		if err := json.NewDecoder(answer.Body).Decode(&info); err != nil {
			return err
		}
		info["Runtimes"].(map[string]any)[runtime] = map[string]string{"path": "/nowhere/" + runtime} //nolint:forcetypeassert // of a daemon
		changed, err := json.Marshal(info)
		if err != nil {
			return err
		}
		err = answer.Body.Close()
		answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(changed)), int64(len(changed))
		answer.Header.Set("Content-Length", strconv.Itoa(len(changed)))
		return err
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return "tcp://" + server.Listener.Addr().String()
}

func TestAWorkerDoesNotStartOnARuntimeThatIsListedAndBroken(t *testing.T) {
	t.Parallel()
	testenv.Docker(t)
	configuration := onDocker(t) + "redis: {embedded_addr: \"" + freeAddr(t) + "\"}\n"
	rule := "sandbox: {docker_host: \"" + registering(t, "broken") + "\", runtimes: [{tenants: [staff], runtime: runc}, {tenants: [guests], runtime: broken}], "
	configuration = strings.Replace(configuration, "sandbox: {", rule, 1)
	code, _, said := runNow(t, configuration, "--embedded")
	require.Equal(t, 1, code)
	require.Contains(t, said, `sandbox.runtimes[1].runtime: "broken": `)
	require.NotContains(t, said, "sandbox.runtimes[0]")
	require.NotContains(t, said, "sandbox.runtime:")
}

func TestTheFirstImageWithAShellTellsWhetherFilesOfPID1CanBeOpened(t *testing.T) {
	t.Parallel()
	noShell := sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, Stderr: sandbox.Stream{Data: []byte("no such program")}}
	languages := []sandbox.Language{{Name: "a", Image: "bare"}, {Name: "b", Image: "bare"}, {Name: "c", Image: "full"}}
	for name, test := range map[string]struct {
		answers scriptedRunner
		said    string
	}{
		"opened":               {scriptedRunner{shellOf("bare"): prints("allowed\n")}, "allowed"},
		"refused":              {scriptedRunner{shellOf("bare"): prints("refused\n"), shellOf("full"): prints("allowed\n")}, "refused"},
		"another image's word": {scriptedRunner{shellOf("bare"): noShell, shellOf("full"): prints("allowed\n")}, "allowed"},
		"no shell anywhere":    {scriptedRunner{shellOf("bare"): noShell, shellOf("full"): prints("")}, ""},
	} {
		said, err := (&checker{runner: test.answers}).opensFilesOfPID1(t.Context(), languages)
		require.NoError(t, err, name)
		require.Equal(t, test.said, said, name)
	}
	_, err := (&checker{runner: scriptedRunner{}}).opensFilesOfPID1(t.Context(), languages)
	require.ErrorContains(t, err, "the daemon is gone")
}

func TestARuntimesKindIsThatOfItsProgram(t *testing.T) {
	t.Parallel()
	d := &daemon{info: system.Info{DefaultRuntime: "strict", Runtimes: map[string]system.RuntimeWithStatus{
		"runc": {Runtime: system.Runtime{Path: "runc"}}, "strict": {Runtime: system.Runtime{Path: "/usr/bin/runsc"}},
	}}}
	require.True(t, d.isGVisor(""))
	require.True(t, d.isGVisor("strict"))
	require.False(t, d.isGVisor("runc"))
}
