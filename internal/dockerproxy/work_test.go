package dockerproxy_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/dockerproxy"
	"github.com/sandloop/sandloop/internal/reaper"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
)

// runner makes a Runner that knows the daemon through the proxy alone.
func (b *bundle) runner(change ...func(*docker.Options)) *docker.Runner {
	b.t.Helper()
	languages, err := sandbox.NewLanguages([]sandbox.Language{
		{Name: "python", Image: b.image, File: "main.py", Run: []string{"python3", "{file}"}},
		{Name: "c", Image: b.image, File: "main.c", Compile: []string{"gcc", "-O1", "-o", "{out}", "{file}"}, Run: []string{"{out}"}},
	})
	require.NoError(b.t, err)
	options := docker.Options{
		Languages: languages, Defaults: sandbox.DefaultLimits(), Maxima: sandbox.DefaultMaxima(), InitPath: testenv.InitPath(b.t), AllowReuse: true,
		Worker: "test", Installation: b.installation, PoolSize: 1, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&options)
	}
	r, err := docker.New(b.t.Context(), b.worker, options)
	require.NoError(b.t, err)
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		require.NoError(b.t, r.Close(ctx))
	})
	return r
}

func python(lines ...string) sandbox.Program {
	return sandbox.Program{Language: "python", Source: sandbox.Bytes(strings.Join(lines, "\n") + "\n")}
}

func TestAWorkerDoesAllItsWorkThroughTheProxy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.runner()
	run := func(t *testing.T, p sandbox.Program) sandbox.Result {
		t.Helper()
		result, err := r.Run(t.Context(), p)
		require.NoError(t, err)
		return result
	}
	t.Run("a program with input, files and output on both streams", func(t *testing.T) {
		p := python("import sys", "print(sys.stdin.read().upper())", "print('err', file=sys.stderr)", "open('out.txt', 'w').write(open('in.txt').read() * 2)")
		p.Stdin, p.Files, p.Outputs = sandbox.Bytes("stdin"), []sandbox.File{{Path: "in.txt", Data: sandbox.Bytes("ab")}}, []string{"out.txt"}
		result := run(t, p)
		require.Equal(t, sandbox.OutcomeOK, result.Outcome)
		require.Equal(t, "STDIN\n", string(result.Stdout.Data))
		require.Equal(t, "err\n", string(result.Stderr.Data))
		require.Equal(t, "abab", string(result.Files[0].Data))
	})
	t.Run("a program that is compiled", func(t *testing.T) {
		result := run(t, sandbox.Program{Language: "c", Source: sandbox.Bytes("#include <stdio.h>\nint main(void){puts(\"c\");}")})
		require.Equal(t, "c\n", string(result.Stdout.Data))
	})
	t.Run("a warm container whose limits are changed", func(t *testing.T) {
		require.NoError(t, r.Warm(t.Context()))
		before := r.Stats().WarmHits
		memory, pids := int64(300<<20), 100
		p := python("print('warm')")
		p.Limits.Memory, p.Limits.PIDs = &memory, &pids
		result := run(t, p)
		require.Equal(t, "warm\n", string(result.Stdout.Data))
		require.Equal(t, memory, result.Enforcement.MemoryBytes)
		require.Greater(t, r.Stats().WarmHits, before)
	})
	t.Run("much output", func(t *testing.T) {
		result := run(t, python("import sys", "for _ in range(200): sys.stdout.write('x' * 100000)"))
		require.EqualValues(t, 20_000_000, result.Stdout.Total)
	})
	t.Run("a program that is killed for its memory", func(t *testing.T) {
		require.Equal(t, sandbox.OutcomeOutOfMemory, run(t, python("x = bytearray(10**9)")).Outcome)
	})
	t.Run("one that does not end", func(t *testing.T) {
		limit := sandbox.Seconds(time.Second)
		p := python("while True: pass")
		p.Limits.WallTime = &limit
		require.Equal(t, sandbox.OutcomeWallTimeout, run(t, p).Outcome)
	})
	t.Run("one that is canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := python("import time", "print('up', flush=True)", "time.sleep(60)")
		p.OnOutput = func(sandbox.Output) { cancel(sandbox.ErrCanceled) }
		result, err := r.Run(ctx, p)
		require.NoError(t, err)
		require.Equal(t, sandbox.OutcomeCanceled, result.Outcome)
	})
	t.Run("the tests of a submission", func(t *testing.T) {
		given := 0
		_, err := r.RunTests(t.Context(), python("print(input() * 2)"), func(previous *sandbox.TestResult) (sandbox.Test, bool) {
			if previous != nil {
				require.Equal(t, "abab\n", string(previous.Stdout.Data))
			}
			given++
			return sandbox.Test{ID: "t", Stdin: sandbox.Bytes("ab")}, given < 4
		})
		require.NoError(t, err)
	})
	t.Run("an older attempt, and what a dead worker left", func(t *testing.T) {
		started := make(chan struct{})
		p := python("import time", "print('up', flush=True)", "time.sleep(60)")
		p.ID, p.Attempt, p.OnOutput = "old", 1, func(sandbox.Output) { close(started) }
		ended := make(chan error, 1)
		go func() {
			_, err := r.Run(t.Context(), p)
			ended <- err
		}()
		<-started
		require.NoError(t, r.KillOlder(t.Context(), "old", 2))
		require.Error(t, <-ended, "somebody removed its container")
		sweeper, err := reaper.New(b.worker, reaper.Options{
			Installation: b.installation, Volumes: r.InitVolumes(), Log: slog.New(slog.DiscardHandler),
			Alive: func(_ context.Context, workers ...string) (map[string]bool, error) {
				alive := map[string]bool{}
				for _, worker := range workers {
					alive[worker] = true
				}
				return alive, nil
			},
		})
		require.NoError(t, err)
		_, err = sweeper.Sweep(t.Context())
		require.NoError(t, err)
	})
	t.Run("a network is not its to give", func(t *testing.T) {
		given := b.runner(func(o *docker.Options) { o.AllowNetwork, o.PoolSize = true, 0 })
		p := python("print(1)")
		p.Network = true
		_, err := given.Run(t.Context(), p)
		require.ErrorContains(t, err, "sandboxes have no network here (sandbox.allow_network)")
	})
}

// A worker that dies takes its connections with it, and the sandbox sees that through the proxy.
func TestASandboxEndsWithItsWorkerBehindTheProxy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := b.request()
	asked.HostConfig.Mounts[0].Source = b.runner(func(o *docker.Options) { o.PoolSize = 0 }).InitVolumes()[0]
	created, err := b.worker.ContainerCreate(t.Context(), asked.Config, asked.HostConfig, nil, nil, "sandloop-"+b.installation)
	require.NoError(t, err)
	conn, err := b.worker.ContainerAttach(t.Context(), created.ID, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	require.NoError(t, err)
	require.NoError(t, b.worker.ContainerStart(t.Context(), created.ID, container.StartOptions{}))
	_, err = conn.Reader.Peek(1) // sandbox-init is up
	require.NoError(t, err)
	require.Len(t, b.containers(), 1)
	conn.Close()
	require.Eventually(t, func() bool { return len(b.containers()) == 0 }, bound, 10*time.Millisecond)
}

func TestASocketThatIsServedIsNotTakenOver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := dockerproxy.Listen(t.Context(), b.socket)
	require.ErrorContains(t, err, "is served by another process")
	_, err = dockerproxy.Listen(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "is there and no socket")
}

func TestWhatTheProxyPutsInItsPlaceIsWhatAWorkerAsksFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.runner(func(o *docker.Options) { o.PoolSize = 1 })
	require.NoError(t, r.Warm(t.Context()))
	list := b.containers()
	require.NotEmpty(t, list)
	found, err := b.daemon.ContainerInspect(t.Context(), list[0].ID)
	require.NoError(t, err)
	require.True(t, found.HostConfig.ReadonlyRootfs)
	require.Equal(t, []string{"ALL"}, []string(found.HostConfig.CapDrop))
	require.True(t, slices.Contains(found.HostConfig.SecurityOpt, "no-new-privileges:true"), found.HostConfig.SecurityOpt)
	require.Equal(t, sandbox.DefaultLimits().Memory, found.HostConfig.Memory)
}
