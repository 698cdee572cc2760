package toolbox

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
	"github.com/sandloop/sandloop/internal/workspace"

	"github.com/redis/go-redis/v9"
)

// fullImage has matplotlib.
const fullImage = "sandloop/full:latest"

// plant is a Toolbox with everything real below it: Redis, a worker and Docker.
type plant struct {
	*Toolbox
	rdb       redis.UniversalClient
	client    *jobs.Client
	store     *workspace.Store
	runner    *docker.Runner
	languages *sandbox.Languages
	limits    sandbox.Limits
	sessions  jobs.Sessions
}

// setupPlant makes a plant whose worker runs until the test's end. change can alter the table of languages, and
// extend is called before the worker starts.
func setupPlant(t *testing.T, change func([]sandbox.Language), extend func(*plant), options ...func(*Options)) *plant {
	t.Helper()
	p := &plant{languages: realLanguages(t, change), limits: sandbox.DefaultLimits()}
	p.limits.CPUs, p.limits.WallTime = 1, testenv.Scale(t, p.limits.WallTime)
	p.startRunner(t)
	rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: testenv.RedisServer(t)})
	require.NoError(t, err)
	p.rdb, p.client, p.store = rdb, jobs.NewClient(rdb, jobs.ClientOptions{}), workspace.New(rdb, workspace.Options{})
	t.Cleanup(func() {
		require.NoError(t, p.client.Close())
		require.NoError(t, rdb.Close())
	})
	if extend != nil {
		extend(p)
	}
	p.startWorker(t)
	o := Options{Jobs: p.client, Workspace: p.store, Languages: p.languages, Tenant: "alice"}
	for _, set := range options {
		set(&o)
	}
	p.Toolbox = New(o)
	t.Cleanup(p.Close)
	return p
}

// realLanguages is the built-in table on the test's image.
func realLanguages(t *testing.T, change func([]sandbox.Language)) *sandbox.Languages {
	t.Helper()
	image := testenv.Image(t)
	rows := slices.Clone(languages(t).All())
	for i := range rows {
		if rows[i].Image != fullImage {
			rows[i].Image = image
		}
	}
	if change != nil {
		change(rows)
	}
	table, err := sandbox.NewLanguages(rows)
	require.NoError(t, err)
	return table
}

func (p *plant) startRunner(t *testing.T) {
	t.Helper()
	through, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	p.runner, err = docker.New(t.Context(), through, docker.Options{
		Languages: p.languages, Defaults: p.limits, Maxima: sandbox.DefaultMaxima(), InitPath: testenv.InitPath(t),
		Runtime: testenv.Runtime(),
		Worker:  "test", Installation: "test-" + rand.Text(), Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, time.Minute))
		defer cancel()
		require.NoError(t, p.runner.Close(ctx))
		require.Zero(t, p.runner.Stats().Open)
		_ = through.VolumeRemove(ctx, p.runner.InitVolumes()[0], false) // another test's may be the same one
		require.NoError(t, through.Close())
	})
}

func (p *plant) startWorker(t *testing.T) {
	t.Helper()
	worker, err := jobs.NewWorker(jobs.WorkerOptions{
		ID: workerID, Redis: p.rdb, Runner: p.runner, Sessions: p.sessions, Concurrency: 2, InteractiveSlots: 1, MaxAttempts: 1,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
}

const workerID = "worker-of-the-test"

// image has a language run in another image.
func image(language, image string) func([]sandbox.Language) {
	return func(rows []sandbox.Language) {
		for i := range rows {
			if rows[i].Name == language {
				rows[i].Image = image
			}
		}
	}
}
