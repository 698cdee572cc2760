package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

// testLanguages is a language table on the test image.
func testLanguages(t testing.TB, image string) *sandbox.Languages {
	t.Helper()
	table, err := sandbox.NewLanguages([]sandbox.Language{
		{Name: "python", Image: image, File: "main.py", Run: []string{"python3", "{file}"}, Env: map[string]string{"OMP_NUM_THREADS": "{cpus}"}},
		{
			Name: "node", Image: image, File: "main.js", HeapFraction: 0.5,
			Run: []string{"node", "--max-old-space-size={heap_mb}", "{file}"},
		},
		{Name: "bash", Image: image, File: "main.sh", Run: []string{"bash", "{file}"}},
		{Name: "c", Image: image, File: "main.c", Compile: []string{"gcc", "-O1", "-o", "{out}", "{file}"}, Run: []string{"{out}"}},
	})
	require.NoError(t, err)
	return table
}

// bundle is a runner with an installation of its own.
type bundle struct {
	*Runner
	docker       *client.Client
	installation string
}

// setup makes a runner that is closed with the test, and asserts that then nothing of it is left.
func setup(t testing.TB, change ...func(*Options)) *bundle {
	t.Helper()
	return setupOn(t, nil, change...)
}

// setupOn makes the runner use another client than the one that the test looks with.
func setupOn(t testing.TB, through *client.Client, change ...func(*Options)) *bundle {
	t.Helper()
	testenv.Docker(t)
	testenv.Except(t, "runsc", notOnGVisor)
	docker, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	if through == nil {
		through = docker
	}
	options := Options{
		Languages: testLanguages(t, testenv.Image(t)), Defaults: scaledDefaults(t), Maxima: sandbox.DefaultMaxima(),
		InitPath: testenv.InitPath(t), Runtime: testenv.Runtime(), Seccomp: ownProfile(t), Worker: "test", Installation: "test-" + rand.Text(), Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&options)
	}
	r, err := New(t.Context(), through, options)
	require.NoError(t, err)
	usedVolumes.Store(r.InitVolumes()[0], true)
	b := &bundle{r, docker, options.Installation}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, time.Minute))
		defer cancel()
		require.NoError(t, r.Close(ctx))
		require.Eventually(t, func() bool { return len(b.containers(t)) == 0 }, testenv.Scale(t, 20*time.Second), 20*time.Millisecond, "containers are left")
		require.Empty(t, b.networks(t), "networks are left")
		require.Zero(t, r.Stats().Open)
		require.NoError(t, errors.Join(docker.Close(), through.Close()))
	})
	return b
}

// ownProfile is the built-in seccomp profile.
func ownProfile(t testing.TB) string {
	t.Helper()
	profile, err := os.ReadFile("../../../config/seccomp.json")
	require.NoError(t, err)
	return string(profile)
}

// containers lists what there is of this installation.
func (b *bundle) containers(t testing.TB) []container.Summary {
	t.Helper()
	list, err := b.docker.ContainerList(context.Background(), container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", labels.Installation+"="+b.installation)),
	})
	require.NoError(t, err)
	// Docker 20.10 can go on listing one that is gone.
	return slices.DeleteFunc(list, func(c container.Summary) bool {
		_, err := b.docker.ContainerInspect(context.Background(), c.ID)
		return errdefs.IsNotFound(err)
	})
}

func pooled(size int) func(*Options) { return func(o *Options) { o.PoolSize = size } }

// run runs a program that must give a result.
func (b *bundle) run(t testing.TB, p sandbox.Program) sandbox.Result {
	t.Helper()
	result, err := b.Run(t.Context(), p)
	require.NoError(t, err)
	return result
}

func python(lines ...string) sandbox.Program {
	return sandbox.Program{Language: "python", Source: []byte(strings.Join(lines, "\n") + "\n")}
}

func bash(lines ...string) sandbox.Program {
	return sandbox.Program{Language: "bash", Source: []byte(strings.Join(lines, "\n") + "\n")}
}

func ptr[T any](v T) *T { return &v }

func wall(d time.Duration) *sandbox.Seconds { return ptr(sandbox.Seconds(d)) }

// scaledDefaults gives programs the time that an emulated processor takes.
func scaledDefaults(t testing.TB) sandbox.Limits {
	t.Helper()
	limits, maxima := sandbox.DefaultLimits(), sandbox.DefaultMaxima()
	limits.WallTime = min(testenv.Scale(t, limits.WallTime), maxima.WallTime)
	limits.CPUTime = min(testenv.Scale(t, limits.CPUTime), maxima.CPUTime)
	limits.CompileTime = min(testenv.Scale(t, limits.CompileTime), maxima.CompileTime)
	return limits
}
