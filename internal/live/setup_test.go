package live_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(closeShared(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// bundle is a runner on real containers, which all tests share.
type bundle struct {
	*docker.Runner
	client       *client.Client
	installation string
}

// shared has a bundle for each image.
var shared struct {
	sync.Mutex
	bundles map[string]*bundle
}

func setup(t testing.TB) *bundle {
	t.Helper()
	return setupOn(t, testenv.Image(t))
}

// notOnGVisor are the tests that do not hold with SANDLOOP_TEST_RUNTIME=runsc.
var notOnGVisor = map[string]string{
	"TestAForkBombIsOver":                   testenv.OneLimit,
	"TestAnEarlierKillIsNotToldAgain":       testenv.OneLimit,
	"TestMemoryOfAChildAndOfTheInterpreter": testenv.OneLimit,
}

// setupOn returns the runner for an image. Its containers are counted when all tests have ended.
func setupOn(t testing.TB, image string) *bundle {
	t.Helper()
	testenv.Docker(t)
	testenv.Except(t, "runsc", notOnGVisor)
	shared.Lock()
	defer shared.Unlock()
	if shared.bundles[image] != nil {
		return shared.bundles[image]
	}
	languages, err := config.Default().Languages()
	require.NoError(t, err)
	var rows []sandbox.Language
	for _, row := range languages.All() {
		if row.Name == "python" || row.Name == "node" {
			row.Image = image
			rows = append(rows, row)
		}
	}
	table, err := sandbox.NewLanguages(rows)
	require.NoError(t, err)
	through, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	installation := "test-" + rand.Text()
	runner, err := docker.New(context.WithoutCancel(t.Context()), through, docker.Options{
		Languages: table, Defaults: sandbox.DefaultLimits(), Maxima: sandbox.DefaultMaxima(),
		InitPath: testenv.InitPath(t), Runtime: testenv.Runtime(), Worker: "test", Installation: installation, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	if shared.bundles == nil {
		shared.bundles = map[string]*bundle{}
	}
	shared.bundles[image] = &bundle{runner, through, installation}
	return shared.bundles[image]
}

// closeShared fails if a container is left.
func closeShared() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	for image, b := range shared.bundles {
		errs = append(errs, b.Close(ctx))
		if open := b.Stats().Open; open != 0 {
			errs = append(errs, fmt.Errorf("%d containers of %s are left", open, image))
		}
		_ = b.client.VolumeRemove(ctx, b.InitVolumes()[0], false) // another test's may be the same one
		errs = append(errs, b.client.Close())
	}
	return errors.Join(errs...)
}

// containers lists the ids of the containers of a job.
func (b *bundle) containers(t testing.TB, id string) (ids []string) {
	t.Helper()
	list, err := b.client.ContainerList(context.Background(), container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", labels.Installation+"="+b.installation), filters.Arg("label", labels.Job+"="+id)),
	})
	require.NoError(t, err)
	for _, c := range list {
		// Docker 20.10 can go on listing one that is gone.
		if _, err := b.client.ContainerInspect(context.Background(), c.ID); !errdefs.IsNotFound(err) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// session is an interpreter under test.
type session struct {
	*live.Interpreter
	t testing.TB
}

func start(t testing.TB, language string, change ...func(*live.Options)) *session {
	t.Helper()
	return startOn(t, setup(t), language, change...)
}

func startOn(t testing.TB, runner *bundle, language string, change ...func(*live.Options)) *session {
	t.Helper()
	options := live.Options{Program: sandbox.Program{Language: language, ID: "live-" + rand.Text(), Attempt: 1}, Hold: time.Hour}
	for _, c := range change {
		c(&options)
	}
	i, err := live.Start(t.Context(), runner, options)
	require.NoError(t, err)
	t.Cleanup(func() {
		i.Close()
		require.Empty(t, runner.containers(t, options.Program.ID))
	})
	return &session{i, t}
}

// cell is code that has time enough.
func (s *session) cell(lines ...string) live.Cell {
	return live.Cell{Source: strings.Join(lines, "\n"), Name: "cell 1", WallTime: testenv.Scale(s.t, 30*time.Second), Output: 64 << 10}
}

// run runs a cell that gives an outcome.
func (s *session) run(cell live.Cell) live.Outcome {
	s.t.Helper()
	outcome, err := s.Run(s.t.Context(), cell)
	require.NoError(s.t, err)
	return outcome
}

// do runs code that must succeed and returns its outcome.
func (s *session) do(lines ...string) live.Outcome {
	s.t.Helper()
	outcome := s.run(s.cell(lines...))
	require.Equal(s.t, sandbox.OutcomeOK, outcome.Result.Outcome, "%s\n%s", outcome.Result.Message, outcome.Result.Stderr.Data)
	return outcome
}

// value runs code that must succeed and returns its value.
func (s *session) value(lines ...string) string {
	s.t.Helper()
	return s.do(lines...).Report.Value
}
