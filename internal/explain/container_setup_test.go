package explain

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/egress"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
)

// fullImage has the languages that sandloop/core has not, and the scientific Python.
const fullImage = "sandloop/full:latest"

// fullPython is Python in that image.
const fullPython = "python-full"

// setupDocker makes a runner of the built-in languages, which is closed with the test.
func setupDocker(t *testing.T) *docker.Runner {
	t.Helper()
	image := testenv.Image(t)
	table, err := config.Default().Languages()
	require.NoError(t, err)
	rows := slices.Clone(table.All())
	for i := range rows {
		if rows[i].Image != fullImage {
			rows[i].Image = image
		}
	}
	python, err := table.Lookup("python")
	require.NoError(t, err)
	python.Name, python.Aliases, python.Extensions, python.Interpreters, python.Image = fullPython, nil, nil, nil, fullImage
	languages, err := sandbox.NewLanguages(append(rows, python))
	require.NoError(t, err)
	limits := sandbox.DefaultLimits()
	limits.CPUs, limits.WallTime, limits.CompileTime = 1, testenv.Scale(t, limits.WallTime), testenv.Scale(t, limits.CompileTime)
	through, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	runner, err := docker.New(t.Context(), through, docker.Options{
		Languages: languages, Defaults: limits, Maxima: sandbox.DefaultMaxima(), InitPath: testenv.InitPath(t),
		Runtime: testenv.Runtime(),
		Worker:  "test", Installation: "test-" + rand.Text(), Log: slog.New(slog.DiscardHandler),
		Egress: &docker.Egress{ProxyPath: testenv.ProxyPath(t), Subnet: netip.MustParsePrefix("198.18.0.0/15"), Rules: []docker.EgressRule{{
			Tenants: []string{"networked"},
			Rule: egress.Rule{
				Name: "network.rules[0]", Domains: []string{"pypi.org"}, Ports: []int{80}, MaxConnections: 1, MaxBytes: 1, Timeout: time.Second,
			},
		}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, time.Minute))
		defer cancel()
		require.NoError(t, runner.Close(ctx))
		require.Zero(t, runner.Stats().Open)
		_ = through.VolumeRemove(ctx, runner.InitVolumes()[0], false) // another test's may be the same one
		require.NoError(t, through.Close())
	})
	return runner
}

// program is code in a language, one line after the other.
func program(language string, lines ...string) sandbox.Program {
	return sandbox.Program{Language: language, Source: sandbox.Bytes(strings.Join(lines, "\n") + "\n")}
}

func ptr[T any](v T) *T { return &v }

// networked is a program with a network in which it reaches one name.
func networked(p sandbox.Program) sandbox.Program {
	p.Network, p.Tenant = true, "networked"
	return p
}

// within gives a program a wall-clock limit.
func within(p sandbox.Program, limit time.Duration) sandbox.Program {
	p.Limits.WallTime = ptr(sandbox.Seconds(limit))
	return p
}
