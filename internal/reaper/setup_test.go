package reaper

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience = 30 * time.Second
	liveOne  = "worker-alive"
	deadOne  = "worker-dead"
)

// bench is one installation on the real daemon. What it creates is removed after the test.
type bench struct {
	t            *testing.T
	docker       *client.Client
	image        string
	installation string
}

func setup(t *testing.T) *bench {
	t.Helper()
	image := testenv.Image(t)
	docker, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	b := &bench{t: t, docker: docker, image: image, installation: "test-" + ulid.Make().String()}
	t.Cleanup(b.clean)
	return b
}

func (b *bench) clean() {
	ctx := context.WithoutCancel(b.t.Context())
	mine := filters.NewArgs(filters.Arg("label", "dev.sandloop.test="+b.installation))
	containers, err := b.docker.ContainerList(ctx, container.ListOptions{All: true, Filters: mine})
	require.NoError(b.t, err)
	for _, c := range containers {
		require.NoError(b.t, b.remove(ctx, c.ID))
	}
	volumes, err := b.docker.VolumeList(ctx, volume.ListOptions{Filters: mine})
	require.NoError(b.t, err)
	for _, v := range volumes.Volumes {
		require.NoError(b.t, b.docker.VolumeRemove(ctx, v.Name, false))
	}
	require.NoError(b.t, b.docker.Close())
}

// reaper makes one that looks twice within a moment and knows liveOne as the only live worker.
func (b *bench) reaper(change func(*Options)) *Reaper {
	b.t.Helper()
	o := Options{
		Installation: b.installation, Grace: time.Millisecond, Confirm: time.Millisecond,
		Log: slog.New(slog.DiscardHandler), Alive: onlyLiveOne,
	}
	if change != nil {
		change(&o)
	}
	r, err := New(b.docker, o)
	require.NoError(b.t, err)
	return r
}

func onlyLiveOne(context.Context, ...string) (map[string]bool, error) {
	return map[string]bool{liveOne: true}, nil
}

func redisIsDown(context.Context, ...string) (map[string]bool, error) {
	return nil, errors.New("redis is down")
}

// of are the labels of a healthy sandbox of an owner; overrides with an empty value remove one.
func (b *bench) of(owner string, overrides map[string]string) map[string]string {
	set := map[string]string{
		labels.Installation: b.installation,
		labels.Role:         labels.RoleSandbox,
		labels.Owner:        owner,
		labels.Expires:      unix(time.Now().Add(time.Hour)),
	}
	maps.Copy(set, overrides)
	maps.DeleteFunc(set, func(_, value string) bool { return value == "" })
	return set
}

func unix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// create makes a container that was never started and returns its id.
func (b *bench) create(set map[string]string, mounts ...mount.Mount) string {
	b.t.Helper()
	marked := map[string]string{"dev.sandloop.test": b.installation}
	maps.Copy(marked, set)
	created, err := b.docker.ContainerCreate(b.t.Context(),
		&container.Config{Image: b.image, Cmd: []string{"sleep", "300"}, Labels: marked, NetworkDisabled: true},
		&container.HostConfig{Mounts: mounts, NetworkMode: "none"}, nil, nil, "")
	require.NoError(b.t, err)
	return created.ID
}

// inEveryState makes containers that are created, running, paused and exited.
func (b *bench) inEveryState(set map[string]string) []string {
	b.t.Helper()
	ids := []string{b.create(set), b.create(set), b.create(set), b.create(set)}
	for _, id := range ids[1:] {
		require.NoError(b.t, b.docker.ContainerStart(b.t.Context(), id, container.StartOptions{}))
	}
	require.NoError(b.t, b.pause(b.t.Context(), ids[2]))
	require.NoError(b.t, b.kill(b.t.Context(), ids[3]))
	return ids
}

// left returns the test's containers that exist.
func (b *bench) left() []string {
	b.t.Helper()
	var ids []string
	for _, c := range b.list() {
		ids = append(ids, c.ID)
	}
	return ids
}

// sweepOld sweeps when all that exists is past a grace of next to nothing: Docker tells
// the age of a container in whole seconds.
func (b *bench) sweepOld(r *Reaper) (Report, error) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		now, err := r.daemonTime(b.t.Context())
		if err != nil {
			return false
		}
		list, err := b.docker.ContainerList(b.t.Context(), container.ListOptions{All: true, Filters: r.ours()})
		for _, c := range list {
			if now.Unix() <= c.Created {
				return false
			}
		}
		return err == nil
	}, testenv.Scale(b.t, patience), 50*time.Millisecond)
	return r.Sweep(b.t.Context())
}

func idsOf(removed []Removed) (ids []string) {
	for _, r := range removed {
		ids = append(ids, r.ID)
	}
	return ids
}
